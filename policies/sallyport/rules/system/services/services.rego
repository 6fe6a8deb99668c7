# METADATA
# title: System service started, stopped or changed
# description: >-
#   Services of the machine are shared with others; stopping one can stop more than is seen. Starting one, and
#   starting one again that the same text has stopped, is said, not asked about.
# custom:
#   severity: medium
#   remediation: Start the program as a background process of your own, or ask a person.
#   examples:
#     - systemctl stop cron
#     - systemctl mask ssh
#     - systemctl disable ssh
#     - systemctl stop cron && systemctl start ssh
#     - nginx -s stop && apachectl
#   lookalikes:
#     - systemctl stop nginx && cp nginx.conf.new nginx.conf; systemctl start nginx
#     - nginx -s stop && sleep 2 && nginx
#     - systemctl status nginx
#     - service --status-all
#     - journalctl -u nginx
package sallyport.rules.system.services

import data.sallyport.lib

# Bringing a service up or back is how its work is tested.
_verbs := {"condrestart", "force-reload", "reload", "restart", "start", "try-restart"}

_stops := {"-s", "quit", "stop"}

_starts(c) if {
	some word in c.argv
	word in _verbs
}

_starts(c) if {
	"listens" in c.flags
	not "service_control" in c.flags
}

_back(i) if _starts(input.commands[i])

_back(i) if {
	stop := input.commands[i]
	stop.certainty == "exact"
	some word in stop.argv
	word in _stops
	some j, start in input.commands
	j > i
	start.certainty == "exact"
	start.name == stop.name
	_starts(start)
	every word in stop.argv {
		word in (_stops | {w | some w in start.argv})
	}
}

ask contains {"command": i} if {
	some i in lib.with_flag.service_control
	not _back(i)
}

warn contains {"command": i} if {
	some i in lib.with_flag.service_control
	_back(i)
}
