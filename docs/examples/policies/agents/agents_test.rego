package custom.agents.rights_test

import data.custom.agents.rights as rule
import data.sallyport.testing

_by(agent, command) := object.union(testing.command(command), {"subject": {"agent": agent}})

test_reading if rule.deny == set() with input as _by("reviewer", {"effects": ["read"]})

test_writing if {
	count(rule.deny) == 1 with input as _by("reviewer", {"effects": ["read", "write"]})
	count(rule.deny) == 0 with input as _by("coder", {"effects": ["read", "write"]})
}

test_without if count(rule.deny) == 1 with input as _by("coder", {"name": "terraform"})

test_unknown_agent if count(rule.deny) == 1 with input as _by("somebody", {})

test_unknown_command if {
	count(rule.ask) == 1 with input as _by("reviewer", {"known": false})
	count(rule.ask) == 0 with input as _by("coder", {"known": false})
}

test_file_tool if {
	request := object.union(
		testing.request([], [{"access": "write", "command": -1}]),
		{"subject": {"agent": "reviewer"}},
	)
	count(rule.deny) == 1 with input as request
}
