# METADATA
# title: Delete of a person's files
# description: >-
#   Deletes a whole directory in somebody's home directory where a wide root grants it. Caches and what this text made itself do
#   not count.
# custom:
#   severity: high
#   remediation: Delete only what you made, below the workspace.
#   examples: []
#   lookalikes:
#     - rm -rf ./build
#     - rm -rf /tmp/work-1
package sallyport.rules.deletion.user_files

import data.sallyport.lib

_many(p) if p.recursive

_many(p) if p.glob

_many(p) if "find -exec" in input.commands[p.command].via

_own(labels) if {
	some label in labels
	label in {"cache", "generated_here", "home_root"}
}

ask contains {"path": i, "msg": $"{p.path} lies in a home directory"} if {
	some i in lib.in_zone.home
	p := input.paths[i]
	p.access == "delete"
	p.permission == "write"
	_many(p)
	not p.generated
	not _own(p.labels)
}
