# METADATA
# title: System service started, stopped or changed
# description: >-
#   Services of the machine are shared with others; stopping one can stop more than is seen. Starting one is
#   said, not asked about.
# custom:
#   severity: medium
#   remediation: Start the program as a background process of your own, or ask a person.
#   examples:
#     - systemctl stop cron
#     - systemctl mask ssh
#     - systemctl disable ssh
#   lookalikes:
#     - systemctl status nginx
#     - service --status-all
#     - journalctl -u nginx
package sallyport.rules.system.services

import data.sallyport.lib

# Bringing a service up or back is how its work is tested.
_verbs := {"condrestart", "force-reload", "reload", "restart", "start", "try-restart"}

_starts(c) if {
	some word in c.argv
	word in _verbs
}

ask contains {"command": i} if {
	some i in lib.with_flag.service_control
	not _starts(input.commands[i])
}

warn contains {"command": i} if {
	some i in lib.with_flag.service_control
	_starts(input.commands[i])
}
