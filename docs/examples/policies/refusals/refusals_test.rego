package custom.sessions.refusals_test

import data.custom.sessions.refusals as rule
import data.sallyport.session
import data.sallyport.testing

_refused := {"effect": "deny", "state": "refused", "exit": -1}

_input(events) := object.union(testing.command({}), {"session": testing.session(events)})

test_few if rule.deny == set() with input as _input([_refused | some _ in numbers.range(1, 4)])

test_many if count(rule.deny) == 1 with input as _input([_refused | some _ in numbers.range(1, 5)])

test_asked_and_refused if {
	events := [{"effect": "ask", "approval": "refused", "state": "refused"} | some _ in numbers.range(1, 5)]
	count(rule.deny) == 1 with input as _input(events)
}

test_long_ago if {
	events := [object.union(_refused, {"age_seconds": 301}) | some _ in numbers.range(1, 5)]
	rule.deny == set() with input as _input(events)
}

test_left_out if {
	session_of := {"counts": {"deny": 5}, "dropped": {"count": 9, "age_seconds": 10}}
	filled := object.union(_input([]), {"session": session_of})
	count(rule.ask) == 1 with input as filled
	rule.ask == set() with input as filled with input.session.dropped.age_seconds as 301
	rule.ask == set() with input as filled with input.session.counts.deny as 4
	session.complete(300) with input as _input([])
}

test_denied_needs_no_question if {
	events := [_refused | some _ in numbers.range(1, 5)]
	session_of := object.union(testing.session(events), {"counts": {"deny": 9}, "dropped": {"count": 9, "age_seconds": 10}})
	filled := object.union(_input([]), {"session": session_of})
	rule.ask == set() with input as filled
	count(rule.deny) == 1 with input as filled
}
