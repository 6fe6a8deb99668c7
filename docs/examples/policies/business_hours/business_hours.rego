# METADATA
# title: Deployments in business hours
# description: |
#   Deployments happen while those who can mend them are at work. The time is that of the request: the clock
#   itself is out of reach for policies, so a recorded request is judged again as it was judged before.
# custom:
#   severity: medium
#   remediation: Wait for the next working day, or ask whoever is on call.
package custom.time.business_hours

import data.custom.hours
import data.sallyport.lib

deny contains {"command": i, "msg": "deployments happen on working days, within business hours"} if {
	some i, _ in lib.commands(hours.deploys)
	not _open
}

_open if {
	now := [time.parse_rfc3339_ns(input.request.time), hours.zone]
	time.weekday(now) in hours.days
	[hour, _, _] := time.clock(now)
	hour >= hours.from
	hour < hours.until
}
