package custom.sessions.deploy_limit_test

import data.custom.sessions.deploy_limit as rule
import data.sallyport.testing

_input(commands, events) := object.union(
	testing.request([{"name": "helm", "subcommand": word} | some word in commands], []),
	{"session": testing.session(events)},
)

_ended := {"commands": ["helm upgrade"], "age_seconds": 60}

_deciding := {"commands": ["kubectl apply"], "state": "deciding", "effect": "pending"}

test_below if rule.deny == set() with input as _input(["upgrade"], [_ended])

test_enough if count(rule.deny) == 1 with input as _input(["upgrade"], [_ended, _ended])

test_at_once if {
	rule.deny == set() with input as _input(["upgrade"], [_deciding])
	count(rule.deny) == 1 with input as _input(["upgrade"], [_deciding, _deciding])
}

test_others if rule.deny == set() with input as _input(["list"], [_ended, _ended, _ended])

test_two_in_one_text if count(rule.deny) == 2 with input as _input(["upgrade", "install"], [])

test_refused_and_old if {
	events := [object.union(_ended, {"state": "refused"}), object.union(_ended, {"age_seconds": 3601}), _ended]
	rule.deny == set() with input as _input(["upgrade"], events)
}

test_left_out if {
	filled := object.union(_input(["upgrade"], []), {"session": {"dropped": {"count": 1, "age_seconds": 5}}})
	count(rule.ask) == 1 with input as filled
	rule.ask == set() with input as filled with input.session.dropped.age_seconds as 3601
}
