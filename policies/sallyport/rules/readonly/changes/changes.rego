# METADATA
# title: Change in a read-only session
# description: >-
#   Anything written, deleted or sent, by the text or by a script that it runs. Part of the profile
#   readonly.
# custom:
#   severity: medium
#   remediation: Read and report only. Show the change, as a diff for example, instead of making it.
#   profile: readonly
#   examples:
#     - touch new.txt
#     - echo hi > notes.txt
#     - rm old.txt
#     - curl https://example.com
#   lookalikes:
#     - ls -la
#     - ls missing 2> /dev/null
package sallyport.rules.readonly.changes

import data.sallyport.lib

deny contains {"path": p, "msg": $"this session is read-only: {verb} of {place}"} if {
	some verb, paths in {"write": lib.writes, "delete": lib.deletes}
	some p in paths
	not _keeps_nothing(input.paths[p])
	place := input.paths[p].raw
}

deny contains {"command": i, "msg": $"this session is read-only: {word} has the effect {effect}"} if {
	some effect in ["network", "privilege", "system"]
	some i in lib.with_effect[effect]
	word := input.commands[i].program
}

# A change outside of the listed paths: git commit, a package manager.
deny contains {"command": i, "msg": $"this session is read-only: {word} has the effect {effect}"} if {
	some effect in ["write", "delete"]
	some i in lib.with_effect[effect]
	not lib.targets[i][effect]
	word := input.commands[i].program
}

_keeps_nothing(path) if "null_device" in path.labels

_keeps_nothing(path) if "std_device" in path.labels
