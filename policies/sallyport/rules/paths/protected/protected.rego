# METADATA
# title: Write to a protected place
# description: The operator has protected this place inside a writable root. It may be read, never changed, moved or deleted.
# custom:
#   severity: high
#   remediation: Leave the place as it is; write elsewhere in the workspace.
#   config:
#     paths: [{path: '{home}/other', access: write, protected: [vendor]}]
#     files: {'{home}/other/vendor/lib.go': package lib}
#   examples:
#     - echo x > {home}/other/vendor/lib.go
#     - rm -rf {home}/other/vendor
#     - sed -i s/a/b/ {home}/other/vendor/lib.go
#   lookalikes:
#     - cat {home}/other/vendor/lib.go
#     - cp -r {home}/other/vendor copy
#     - echo x > {home}/other/vendor.txt
package sallyport.rules.paths.protected

import data.sallyport.lib

deny contains {"path": i, "msg": $"{p.path} is protected"} if {
	some i in lib.in_zone.protected
	p := input.paths[i]
	p.access in {"write", "delete"}
}

deny contains {"path": i, "msg": $"a protected place lies below {p.path}"} if {
	some i in lib.with_label.contains_protected
	p := input.paths[i]
	p.zone != "protected"
	p.access in {"write", "delete"}
	not "filtered" in p.labels
}

ask contains {"path": i, "msg": $"a protected place lies below {p.path}, and the search may pick it out"} if {
	some i in lib.with_label.contains_protected
	p := input.paths[i]
	p.zone != "protected"
	p.access in {"write", "delete"}
	"filtered" in p.labels
}
