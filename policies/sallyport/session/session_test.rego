package sallyport.session_test

import data.sallyport.session
import data.sallyport.testing

_input(events) := object.union(testing.command({}), {"session": testing.session(events)})

_plan := {"commands": ["terraform plan"], "effect": "ask", "approval": "granted", "age_seconds": 50}

_apply := {"commands": ["terraform apply"], "age_seconds": 20}

test_since if {
	object.keys(session.since(20)) == {1} with input as _input([_plan, _apply])
	object.keys(session.since(50)) == {0, 1} with input as _input([_plan, _apply])
	session.since(60) == {} with input as _input([])
}

test_count if {
	session.count({"effect": {"ask", "deny"}}, 60) == 1 with input as _input([_plan, _apply])
	session.count({"effect": {"ask", "deny"}}, 40) == 0 with input as _input([_plan, _apply])
	both := {"terraform plan", "terraform apply"}
	session.count({"commands": both}, 60) == 2 with input as _input([_plan, _apply])
	session.count({"commands": both, "approval": {"refused"}}, 60) == 0 with input as _input([_plan])
	session.count({"coommands": {"terraform plan"}}, 60) == 0 with input as _input([_plan])
}

test_complete if {
	session.complete(60) with input as _input([_plan])
	dropped := object.union(_input([_plan]), {"session": {"dropped": {"count": 1, "age_seconds": 60}}})
	not session.complete(60) with input as dropped
	session.complete(60) with input as dropped with input.session.dropped.age_seconds as 60.5
}

_after if session.after(
	{"commands": {"terraform plan"}, "approval": {"granted"}},
	{"commands": {"terraform apply"}},
)

test_after[name] if {
	some name, events in {
		"once": [_plan],
		"after something else": [_plan, {"commands": ["ls"]}],
		"after one that was refused": [_plan, object.union(_apply, {"effect": "deny", "state": "refused"})],
		"anew": [_plan, _apply, _plan],
	}
	_after with input as _input(events)
}

test_not_after[name] if {
	some name, events in {
		"never": [],
		"not approved": [object.union(_plan, {"approval": ""})],
		"failed": [object.union(_plan, {"exit": 1})],
		"still runs": [object.union(_plan, {"state": "running", "exit": -1})],
		"has not ended": [object.union(_plan, {"state": "deciding"})],
		"used": [_plan, _apply],
		"in use": [_plan, object.union(_apply, {"state": "running", "exit": -1})],
		"about to be used": [_plan, object.union(_apply, {"state": "deciding", "effect": "pending", "exit": -1})],
		"in the other order": [_apply, object.union(_plan, {"approval": "refused"})],
	}
	not _after with input as _input(events)
}
