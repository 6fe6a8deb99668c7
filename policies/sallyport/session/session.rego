# METADATA
# title: Questions about the session
# description: |
#   Earlier requests, those in flight included: docs/writing-policies.md shows the functions at
#   work. A pattern is an object of fields of input.session.recent and the values of which each must have
#   one: {"effect": {"deny"}, "commands": {"git push", "npm publish"}}. A request in flight has no exit
#   status and may have no decision, so a limit counts all requests that were not refused.
package sallyport.session

import data.sallyport.lib

# The requests of the last seconds, by index: some i, e in session.since(60).
since(seconds) := {i: e |
	some i, e in input.session.recent
	e.age_seconds <= seconds
}

# How many requests of the last seconds fit a pattern: session.count({"effect": {"deny"}}, 60) >= 5.
# Requests that the input leaves out are not among them: ask session.complete, too.
count(pattern, seconds) := lib.size({i | some i, e in since(seconds); _fits(e, pattern)})

# The input leaves no request of the last seconds out.
complete(_) if input.session.dropped.count == 0

complete(seconds) if input.session.dropped.age_seconds > seconds

# A request that fits the first pattern ended with status 0, and behind it came none that fits the other,
# but for those that were refused: session.after({"commands": {"terraform plan"}, "approval": {"granted"}},
# {"commands": {"terraform apply"}}).
after(done, undone) if {
	some i, e in input.session.recent
	e.state == "ended"
	e.exit == 0
	_fits(e, done)
	not _undone(i, undone)
}

_undone(i, pattern) if {
	some j, e in input.session.recent
	j > i
	e.state != "refused"
	_fits(e, pattern)
}

_fits(event, pattern) if {
	every field, values in pattern {
		_one(event[field], values)
	}
}

_one(value, values) if value in values

_one(value, values) if {
	some one in value
	one in values
}
