# METADATA
# title: File tool deletes project data
# description: >-
#   A file tool would delete a granted place itself, or essential files of a project: a repository's
#   history, an environment file, the state of agents. So it would with a directory that has these in it.
#   Caches, build output and installed packages, which are made again, may go.
# custom:
#   severity: high
#   remediation: Delete other files below it by name; let a person delete a project's history, settings and state.
#   config:
#     paths: [{path: '{home}/other', access: write}]
#     files: {'{home}/other/main.go': package main, lib/.git/HEAD: x, app/.env: A=1, state/.massgen/log: x}
#   examples:
#     - 'delete_file: delete* .git'
#     - 'delete_file: delete .git/HEAD'
#     - 'delete_file: delete app/.env'
#     - 'delete_file: delete* app'
#     - 'delete_file: delete* lib'
#     - 'delete_file: delete* state/.massgen'
#     - 'delete_file: delete* .'
#     - 'delete_file: delete* {home}/other'
#   lookalikes:
#     - 'delete_file: delete* node_modules'
#     - 'delete_file: delete* build'
#     - 'delete_file: delete .env.example'
#     - 'delete_file: delete* .github'
#     - 'delete_file: delete {home}/other/main.go'
#     - 'read_file: read .git/HEAD'
#     - rm -f .git/index.lock
package sallyport.rules.deletion.tool_critical

import data.sallyport.lib

# The worst first: one finding a path, however many of these it is.
_places := [
	["workspace_root", "is the workspace itself, or a directory around it"],
	["permission_root", "is a granted place itself, or a directory around one"],
	["contains_permission_root", "has a granted place in it"],
]

_names := [
	["critical_name", "is kept by the project"],
	["contains_critical_name", "has something in it that the project keeps, such as .git, .env or .massgen"],
]

_first(rows, labels) := [text | some [label, text] in rows; label in labels][0]

_deleted contains i if {
	some i in lib.deletes
	input.paths[i].source == "tool"
}

deny contains {"path": i, "msg": $"{p.path} {why}"} if {
	some i in _deleted
	p := input.paths[i]
	why := _first(_places, p.labels)
}

deny contains {"path": i, "msg": $"{p.path} {why}"} if {
	some i in _deleted
	p := input.paths[i]
	p.zone != "temporary"
	p.seen != "created"
	not _first(_places, p.labels)
	why := _first(_names, p.labels)
}
