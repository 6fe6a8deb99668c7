# METADATA
# title: Permissions opened or changed beyond the granted places
# description: >-
#   Lets every user write to a file outside the workspace and the other writable places, or changes modes recursively
#   there. Opening files inside them to all is said, not refused.
# custom:
#   severity: high
#   remediation: Change the mode of single files below the workspace, and prefer 644, 755 or u+x to 777.
#   examples:
#     - chmod -R 777 /
#     - chmod 666 /etc/passwd
#     - chmod -R 700 /usr/share
#     - chmod a+w ~/.profile
#   lookalikes:
#     - chmod +x run.sh
#     - chmod 644 README.md
#     - chmod a+w data.txt > /dev/null
#     - chmod -R u+rwX ./data
#     - find . -name '*.sh' -exec chmod +x {} +
package sallyport.rules.dangerous.permissions

import data.sallyport.lib

# Where the operator grants writing, modes and owners are the agent's own affair.
_own := {"context", "temporary", "workspace"}

_outside(i) := [j |
	some j in input.commands[i].paths
	p := input.paths[j]
	p.access == "write"
	p.source != "redirect"
	not p.zone in _own
]

_unknown(i) if {
	some j in input.commands[i].paths
	p := input.paths[j]
	p.access == "write"
	p.source != "redirect"
	p.certainty == "unknown"
}

deny contains {"command": i, "path": _outside(i)[0]} if {
	some i in lib.with_flag.mode_change
	some flag in input.commands[i].flags
	flag in {"widens", "recursive"}
}

warn contains {"command": i} if {
	some i in lib.with_flag.widens
	count(_outside(i)) == 0
	not _unknown(i)
}

ask contains {"command": i} if {
	some i in lib.with_flag.widens
	count(_outside(i)) == 0
	_unknown(i)
}
