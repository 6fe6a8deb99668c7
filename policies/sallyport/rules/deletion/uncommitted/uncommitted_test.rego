package sallyport.rules.deletion.uncommitted_test

import data.sallyport.rules.deletion.uncommitted as rule
import data.sallyport.testing

_path(state, fields) := object.union(
	{"access": "delete", "recursive": true, "git": {"state": state, "count": 2, "examples": ["a", "b"]}},
	fields,
)

test_asks[state] if {
	some state, why in {
		"untracked": "git does not track them",
		"changed": "git does not hold their changes",
		"unknown": "git's copies of them are not known",
	}
	finding := {"path": 0, "msg": $"/ws/x: 2 file(s) would be lost, and {why}"}
	rule.ask == {finding} with input as testing.path(_path(state, {}))
	rule.ask == {finding} with input as testing.path(_path(state, {"zone": "context"}))
}

test_silent[state] if {
	some state in ["none", "clean"]
	rule.ask == set() with input as testing.path(_path(state, {}))
}

test_one_file if {
	rule.ask == set() with input as testing.path(_path("untracked", {"recursive": false}))
	count(rule.ask) == 1 with input as testing.path(_path("untracked", {"recursive": false, "glob": true}))
	count(rule.ask) == 1 with input as testing.path(_path("changed", {"recursive": false}))
}

test_silent_elsewhere if {
	every fields in [{"access": "write"}, {"permission": "read"}, {"zone": "temporary"}, {"generated": true}] {
		rule.ask == set() with input as testing.path(_path("untracked", fields))
	}
}

test_silent_for_moves if {
	rule.ask == set() with input as testing.request([{"flags": ["moves"]}], [_path("changed", {})])
}

test_git_rm if {
	command := {"name": "git", "subcommand": "rm", "paths": [0]}
	rule.ask == set() with input as testing.request([command], [_path("untracked", {})])
	forced := object.union(command, {"flags": ["force"]})
	count(rule.ask) == 1 with input as testing.request([forced], [_path("changed", {})])
	other := object.union(command, {"subcommand": "clean"})
	count(rule.ask) == 1 with input as testing.request([other], [_path("changed", {})])
	named := object.union(command, {"name": "yadm"})
	count(rule.ask) == 1 with input as testing.request([named], [_path("changed", {})])
}

test_file_tool if {
	count(rule.ask) == 1 with input as testing.request([], [_path("changed", {"source": "tool", "command": -1})])
}

test_silent_for_programs_of_a_command if {
	doc := testing.path(_path("untracked", {}))
	count(rule.ask) == 1 with input as doc
	rule.ask == set() with input as object.union(doc, {"request": {"tool": "program"}})
}
