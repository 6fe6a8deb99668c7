# METADATA
# title: Delete of a granted place itself
# description: >-
#   Deletes or moves a root that the operator has granted, all of its contents, or a directory around it.
#   Its contents may go, the place may not.
# custom:
#   severity: high
#   remediation: Delete files that you made below the place, by name.
#   config:
#     paths: [{path: '{home}/other', access: write}]
#     files: {'{home}/other/main.go': package main}
#   examples:
#     - rm -rf {home}/other
#     - rm -rf {home}/other/*
#     - mv {home}/other old
#   lookalikes:
#     - rm {home}/other/main.go
#     - rm -rf {home}/other/build
package sallyport.rules.deletion.permission_root

import data.sallyport.lib

_roots contains i if some i in lib.with_label.permission_root

_roots contains i if some i in lib.with_label.contains_permission_root

# The workspace has its own rule.
_workspace(p) if {
	some label in p.labels
	label in {"workspace_root", "contains_workspace"}
}

_whole(p) if p.recursive

_whole(p) if "wildcard_all" in p.labels

_whole(p) if p.type == "dir"

_hit contains i if {
	some i in _roots
	p := input.paths[i]
	p.access == "delete"
	p.certainty == "exact"
	_whole(p)
	not _workspace(p)
	not "filtered" in p.labels
}

deny contains {"path": i, "msg": $"{p.path} is a granted place, or lies around one"} if {
	some i in _hit
	p := input.paths[i]
	p.zone != "temporary"
}

ask contains {"path": i, "msg": $"others may be using {p.path}"} if {
	some i in _hit
	p := input.paths[i]
	p.zone == "temporary"
}
