# METADATA
# title: Changes stay in src
# description: |
#   Commands and file tools change files below src and in temporary directories, and nothing else.
# custom:
#   severity: medium
#   remediation: Change files below src only, or say what should change elsewhere and why.
#   config:
#     files: {README.md: text, src/main.go: package main, src/away: '-> {workspace}'}
#   examples:
#     - echo x > README.md
#     - rm README.md
#     - cp src/main.go .
#     - touch src/../x
#     - touch src/away/x
#   lookalikes:
#     - echo x > src/main.go
#     - cat README.md
#     - cd src && touch new.go
#     - ls > /dev/null
package custom.paths.src_only

import data.sallyport.lib

deny contains {"path": p, "msg": $"{path.raw} is not below src"} if {
	some p, path in lib.paths({"write", "delete"})
	path.zone != "temporary"
	not _passes(path)
	not lib.within_workspace(path, "src")
}

# Devices that keep nothing.
_passes(path) if "null_device" in path.labels

_passes(path) if "std_device" in path.labels
