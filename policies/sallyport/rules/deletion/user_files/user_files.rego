# METADATA
# title: Delete of a person's files
# description: >-
#   Deletes a whole directory in somebody's home directory, or anywhere else that only a wide root grants,
#   such as / or /srv. Caches and files that this text made itself do not count.
# custom:
#   severity: high
#   remediation: Delete only files that you made, below the workspace.
#   config:
#     paths: [{path: '{home}', access: write}]
#     files: {'{home}/Documents/letter.txt': Dear reader}
#   examples:
#     - rm -rf {home}/Documents
#     - find {home}/Documents -mindepth 1 -delete
#   lookalikes:
#     - rm -rf {home}/.cache/pip
#     - rm {home}/Documents/letter.txt
#     - rm -rf ./build
package sallyport.rules.deletion.user_files

import data.sallyport.lib

_many(p) if p.recursive

_many(p) if p.glob

_many(p) if "find -exec" in input.commands[p.command].via

_own(labels) if {
	some label in labels
	label in {"cache", "generated_here", "home_root"}
}

_granted(p) if {
	p.access == "delete"
	p.permission == "write"
	not p.generated
	not _own(p.labels)
}

ask contains {"path": i, "msg": $"{p.path} lies in a home directory"} if {
	some i in lib.in_zone.home
	p := input.paths[i]
	_granted(p)
	_many(p)
}

# One file less is seldom a disaster where nobody lives.
ask contains {"path": i, "msg": $"{p.path} is no part of the work at hand"} if {
	some i in lib.with_label.wide_root
	p := input.paths[i]
	p.zone == "context"
	p.recursive
	_granted(p)
	not lib.with_flag.moves[p.command]
}
