# METADATA
# title: Write to a read-only place
# description: The operator has granted this place for reading only.
# custom:
#   severity: high
#   remediation: Copy the file into the workspace and change the copy, or ask the operator for write access (paths).
#   config:
#     paths: [{path: '{home}/other', access: read}]
#     files: {'{home}/other/main.go': package main}
#   examples:
#     - echo x > {home}/other/main.go
#     - mv {home}/other/main.go .
#     - mkdir {home}/other/new
#   lookalikes:
#     - cat {home}/other/main.go
#     - cp {home}/other/main.go .
package sallyport.rules.paths.write_read_only

import data.sallyport.lib

deny contains {"path": i, "msg": $"{p.path} is granted for reading only"} if {
	some i in lib.changes
	p := input.paths[i]
	p.permission == "read"
	p.certainty != "unknown"
	not p.zone in {"protected", "self"}
	not lib.with_label.null_device[i]
	not lib.with_label.std_device[i]
}
