# METADATA
# title: System log deleted or rewritten
# description: Logs record the events of the machine; deleting them hides the events.
# custom:
#   severity: high
#   remediation: Leave the logs; write your own below the workspace.
#   examples:
#     - rm -rf /var/log/nginx
#     - truncate -s 0 /var/log/syslog
#     - echo > /var/log/auth.log
#   lookalikes:
#     - tail /var/log/syslog
#     - grep error /var/log/nginx/error.log
#     - rm -f debug.log
package sallyport.rules.system.logs

import data.sallyport.lib

_changed contains i if {
	some i in lib.with_label.system_log
	i in lib.changes
}

# Programs that add a line keep the contents; all others count as replacing them.
_adds(p) if input.commands[p.command].name == "logger"

deny contains {"path": i, "msg": $"{p.path} is a system log"} if {
	some i in _changed
	p := input.paths[i]
	not _adds(p)
}
