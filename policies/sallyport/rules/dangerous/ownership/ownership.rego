# METADATA
# title: Owner changed beyond the granted places
# description: Changes the owner, group or access list of files outside the workspace and the other writable places.
# custom:
#   severity: high
#   remediation: Leave owners as they are; create files you need in the workspace, where they belong to you.
#   examples:
#     - chown -R nobody /etc
#     - chown root:root /usr/local/bin/tool
#     - chgrp -R staff /opt
#   lookalikes:
#     - chown "$USER" ./data.txt
#     - grep -r chown Dockerfile
#     - chown "$USER" ./data.txt > /dev/null
package sallyport.rules.dangerous.ownership

import data.sallyport.lib

# Where the operator grants writing, modes and owners are the agent's own affair.
_own := {"context", "temporary", "workspace"}

_changes contains i if some i in lib.with_flag.owner_change

_changes contains i if some i in lib.with_flag.acl_change

deny contains {"command": i, "path": j} if {
	some i in _changes
	some j in input.commands[i].paths
	p := input.paths[j]
	p.access == "write"
	p.source != "redirect"
	p.certainty != "unknown"
	not p.zone in _own
}

ask contains {"command": i, "path": j} if {
	some i in _changes
	"recursive" in input.commands[i].flags
	some j in input.commands[i].paths
	p := input.paths[j]
	p.access == "write"
	p.source != "redirect"
	p.certainty == "unknown"
}
