package custom.time.business_hours_test

import data.custom.time.business_hours as rule
import data.sallyport.testing

_at(time) := object.union(testing.command({"name": "deploy"}), {"request": {"time": time}})

test_hours[time] if {
	some time, findings in {
		"2026-01-05T09:00:00Z": 0,
		"2026-01-05T15:59:59Z": 0,
		"2026-01-05T08:59:59Z": 1,
		"2026-01-05T16:00:00Z": 1,
		"2026-01-09T12:00:00Z": 1,
		"2026-01-05T23:30:00-08:00": 1,
	}
	count(rule.deny) == findings with input as _at(time)
}

test_elsewhere_it_is_earlier if {
	count(rule.deny) == 0 with input as _at("2026-01-05T16:00:00Z") with data.custom.hours.zone as "America/New_York"
}

test_other_commands if count(rule.deny) == 0 with input as testing.command({"name": "ls"})
