# METADATA
# title: Read outside the granted places
# description: >-
#   Reads files where no root of the operator's configuration grants anything. The operating system's own
#   files and temporary directories are free. Part of the profiles strict and readonly.
# custom:
#   severity: medium
#   remediation: Read below the workspace, or ask the operator to grant the place for reading (paths).
#   profile: strict
#   examples:
#     - cat ~/notes.txt
#     - cp ../other/main.go .
#   lookalikes:
#     - cat README.md
#     - cat /etc/hosts
#     - ls -la ~
package sallyport.rules.strict.read_outside

import data.sallyport.lib

_elsewhere := {"home", "outside"}

ask contains {"path": i, "msg": $"{p.path} lies outside the granted places"} if {
	some i in lib.reads
	p := input.paths[i]
	p.permission == "none"
	p.zone in _elsewhere
	p.certainty != "unknown"
	not "metadata" in p.labels
}
