package custom.sessions.reviewed_test

import data.custom.sessions.reviewed as rule
import data.sallyport.testing

_input(commands, events) := object.union(
	testing.request([{"name": "terraform", "subcommand": word} | some word in commands], []),
	{"session": testing.session(events)},
)

_plan := {"commands": ["terraform plan"], "effect": "ask", "approval": "granted"}

test_plan_is_asked if count(rule.ask) == 1 with input as _input(["plan"], [])

test_apply_alone if count(rule.deny) == 1 with input as _input(["apply"], [])

test_apply_after_plan if rule.deny == set() with input as _input(["apply"], [_plan, {"commands": ["ls"]}])

test_two_in_one_text if count(rule.deny) == 2 with input as _input(["apply", "apply"], [_plan])

test_not_after[name] if {
	some name, events in {
		"a plan that nobody approved": [object.union(_plan, {"approval": ""})],
		"a plan that failed": [object.union(_plan, {"exit": 1})],
		"an application": [_plan, {"commands": ["terraform apply"]}],
		"an application in flight": [_plan, {"commands": ["terraform apply"], "state": "deciding"}],
		"a change": [_plan, {"effects": ["write"]}],
	}
	count(rule.deny) == 1 with input as _input(["apply"], events)
}
