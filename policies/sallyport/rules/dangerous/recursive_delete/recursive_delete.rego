# METADATA
# title: Delete of a root, home or workspace directory
# description: >-
#   A delete that reaches the file system's root, a home directory, a directory of the operating system or
#   the workspace itself, whatever program does it: rm, find -delete, mv, rsync --delete or inline code.
# custom:
#   severity: critical
#   remediation: Name the files or the one subdirectory below the workspace to delete, for example rm -rf ./build.
#   examples:
#     - rm -fr "/"
#     - r\m -rf ~
#     - X=rm; $X -rf /
#     - cd / && rm -rf *
#     - find / -delete
#     - rm -rf .
#   lookalikes:
#     - rm -rf ./build
#     - rm -rf node_modules dist
#     - "grep -rn 'rm -rf /' ."
#     - echo "never run rm -rf /"
#     - find . -name '*.pyc' -delete
package sallyport.rules.dangerous.recursive_delete

import data.sallyport.lib

# The worst first: one finding a path, however many of these it is.
_places := [
	["root", "the root of the file system"],
	["home_root", "a whole home directory"],
	["top_level", "a directory of the operating system"],
	["contains_home", "a directory with the home directory in it"],
	["workspace_root", "the workspace itself, or a directory around it"],
	["contains_workspace", "a directory with the workspace in it"],
]

_whole(p) if p.recursive

_whole(p) if "wildcard_all" in p.labels

_place(labels) := [text | some [label, text] in _places; label in labels][0]

# A search picks out a part of the workspace or of its parent, not all of it.
_picked(p) if {
	"filtered" in p.labels
	not _everything(p)
}

_everything(p) if {
	some label in p.labels
	label in {"home_root", "root", "top_level"}
}

# All entries of the workspace, which stay in it: mv * new/.
_kept(p) if {
	lib.with_flag.moves[p.command]
	"wildcard_all" in p.labels
	not _wider(p)
	count(_targets(p.command)) > 0
	every target in _targets(p.command) {
		target.zone == "workspace"
		target.certainty != "unknown"
	}
}

# The same words may name more than the workspace: a place with the home directory or the workspace in it.
_wider(p) if p.zone != "workspace"

_wider(p) if {
	some label in p.labels
	label in {"contains_home", "contains_workspace", "home_root", "root", "top_level"}
}

_targets(command) := {target |
	some j in input.commands[command].paths
	target := input.paths[j]
	target.access == "write"
}

deny contains {"path": i, "msg": $"this deletes {place}: {p.path}"} if {
	some i in lib.deletes
	p := input.paths[i]
	p.certainty == "exact"
	_whole(p)
	not _picked(p)
	not _kept(p)

	# Assigned before it is used: a template of something undefined is a text, and the rule would fire.
	place := _place(p.labels)
}
