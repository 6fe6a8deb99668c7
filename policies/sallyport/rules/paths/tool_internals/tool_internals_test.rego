package sallyport.rules.paths.tool_internals_test

import data.sallyport.rules.paths.tool_internals as rule
import data.sallyport.testing

_tool(fields) := testing.request([], [object.union(
	{
		"source": "tool",
		"command": -1,
		"path": "/o/.env",
		"access": "write",
		"zone": "context",
		"labels": ["critical_name"],
	},
	fields,
)])

test_asks_in_a_granted_place if {
	rule.ask == {{"path": 0, "msg": "/o/.env is kept by the project around it"}} with input as _tool({})
}

test_allows_the_workspace if {
	rule.ask == set() with input as _tool({"zone": "workspace"})
}

test_allows_other_names_and_reading if {
	rule.ask == set() with input as _tool({"labels": ["ci_config"]})
	rule.ask == set() with input as _tool({"access": "read"})
}

test_leaves_commands_to_others if {
	rule.ask == set() with input as _tool({"source": "argument"})
}

test_leaves_read_only_places_to_others if {
	rule.ask == set() with input as _tool({"permission": "read"})
}
