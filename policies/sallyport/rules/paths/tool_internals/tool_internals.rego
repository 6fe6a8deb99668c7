# METADATA
# title: File tool changes internals of another project
# description: >-
#   A file tool would write a repository's own files, an environment file or the state of agents in a place beside the workspace.
#   The place was granted for the project's files; in the workspace these are the agent's to set up.
# custom:
#   severity: medium
#   remediation: Write the project's own files only, or show a person the intended content.
#   config:
#     paths: [{path: '{home}/other', access: write}]
#     files: {'{home}/other/main.go': package main}
#   examples:
#     - 'write_file: write {home}/other/.env'
#     - 'copy_file: read README.md, write {home}/other/.git/description'
#   lookalikes:
#     - 'write_file: write .env'
#     - 'write_file: write {home}/other/main.go'
#     - 'write_file: write {home}/other/.env.example'
#     - 'write_file: write {home}/other/node_modules/m/.env'
package sallyport.rules.paths.tool_internals

import data.sallyport.lib

ask contains {"path": i, "msg": $"{p.path} is kept by the project around it"} if {
	some i in lib.with_label.critical_name
	p := input.paths[i]
	p.source == "tool"
	p.access == "write"
	p.zone == "context"
	p.permission == "write"
}
