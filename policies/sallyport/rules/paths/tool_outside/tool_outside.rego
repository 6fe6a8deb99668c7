# METADATA
# title: File tool outside the granted places
# description: >-
#   A file tool would read, write or delete where no root of the operator's configuration grants anything,
#   be it by way of a symbolic link, or is given something that names no file. A command may read files that
#   the machine's programs need; a file tool needs nothing beyond the work at hand.
# custom:
#   severity: high
#   remediation: Name a file below the workspace or another granted place, or ask the operator to grant the place (paths).
#   config:
#     paths: [{path: '{home}/other', access: read}]
#     files: {'{home}/other/main.go': package main, out: '-> {home}', away.txt: '-> ../notes.txt'}
#   examples:
#     - 'read_file: read /etc/hosts'
#     - 'write_file: write /tmp/notes.txt'
#     - 'delete_file: delete {home}/notes.txt'
#     - 'read_file: read ../notes.txt'
#     - 'read_file: read away.txt'
#     - 'write_file: write out/new.txt'
#     - 'compare_files: read README.md, read {home}/notes.txt'
#     - 'copy_files_batch: read* {home}, write copy'
#     - 'delete_files_batch: delete '
#   lookalikes:
#     - 'read_file: read README.md'
#     - 'read_file: read {home}/other/main.go'
#     - 'read_file: read src/../README.md'
#     - 'write_file: write ~/new.txt'
#     - 'delete_file: delete away.txt'
#     - cat /etc/hosts
package sallyport.rules.paths.tool_outside

_outside contains i if {
	some i, p in input.paths
	p.source == "tool"
	p.permission == "none"
}

deny contains {"path": i, "msg": $"{p.path} lies outside the granted places"} if {
	some i in _outside
	p := input.paths[i]
	p.certainty == "exact"
	p.path == p.real
}

deny contains {"path": i, "msg": $"{p.path} leads to {p.real}, which lies outside the granted places"} if {
	some i in _outside
	p := input.paths[i]
	p.certainty == "exact"
	p.path != p.real
}

deny contains {"path": i, "msg": $"'{p.raw}' is not the name of a file"} if {
	some i in _outside
	p := input.paths[i]
	p.certainty != "exact"
}
