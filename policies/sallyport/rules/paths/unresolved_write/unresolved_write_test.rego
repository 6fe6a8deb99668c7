package sallyport.rules.paths.unresolved_write_test

import data.sallyport.rules.paths.unresolved_write as rule
import data.sallyport.testing

_write(command, path) := testing.request([command], [object.union(
	{"access": "write", "raw": "$f", "path": "", "certainty": "unknown"},
	path,
)])

_finding := {"path": 0, "msg": "the value of $f is not known before it runs"}

test_asks if {
	rule.ask == {_finding} with input as _write({}, {})
	rule.deny == set() with input as _write({}, {})
}

test_denies_elevated if {
	rule.deny == {_finding} with input as _write({"elevated": true}, {})
	rule.ask == set() with input as _write({"elevated": true}, {})
}

test_allows_known_beginning if {
	rule.ask == set() with input as _write({}, {"certainty": "partial", "path": "/ws/out"})
}

test_allows_in_scripts if {
	rule.ask == set() with input as _write({}, {"source": "script"})
	rule.ask == set() with input as _write({"script": "./x.sh"}, {})
}

test_asks_for_code if {
	rule.ask == {_finding} with input as _write({}, {"source": "code"})
}

test_asks_for_a_redirect_to_a_variable if {
	doc := _write({}, {"source": "redirect"})
	rule.ask == {_finding} with input as doc
	rule.warn == set() with input as doc
}

test_asks_for_a_redirect_that_another_command_names if {
	doc := _write({"inputs": [0]}, {"source": "redirect"})
	rule.ask == {_finding} with input as doc
	rule.warn == set() with input as doc
}

_found(zone) := testing.request(
	[{"name": "find", "flags": ["lists_names"], "paths": [0]}, {"name": "chmod", "via": ["xargs"], "inputs": [0], "paths": [1]}],
	[
		{"command": 0, "access": "read", "zone": zone},
		{"command": 1, "access": "write", "raw": "$f", "path": "", "certainty": "unknown", "zone": "outside"},
	],
)

test_warns_of_names_found_in_the_workspace if {
	rule.warn == {object.union(_finding, {"path": 1})} with input as _found("workspace")
	rule.ask == set() with input as _found("workspace")
	rule.ask == {object.union(_finding, {"path": 1})} with input as _found("system")
}

_searched := {"name": "find", "flags": ["lists_names"], "paths": [0]}

# The names of a search by way of another command, and the work of xargs with them.
_passed_on(listing, between, path) := testing.request(
	[
		object.union(_searched, listing),
		object.union({"name": "sort", "inputs": [0]}, between),
		{"name": "chmod", "via": ["xargs"], "inputs": [0, 1], "paths": [1]},
	],
	[
		object.union({"command": 0, "access": "read"}, path),
		{"command": 2, "access": "write", "raw": "$f", "path": "", "certainty": "unknown", "zone": "outside"},
	],
)

_passes(doc) if {
	rule.ask == set() with input as doc
	count(rule.warn) == 1 with input as doc
}

_adds(doc) if {
	count(rule.ask) == 1 with input as doc
	rule.warn == set() with input as doc
}

test_warns_of_names_that_are_only_passed_on if {
	every name in ["egrep", "fgrep", "grep", "head", "sort", "tail", "uniq", "xargs"] {
		_passes(_passed_on({}, {"name": name}, {}))
	}
}

test_asks_where_a_command_adds_names if {
	_adds(_passed_on({}, {"name": "awk"}, {}))
	_adds(_passed_on({}, {"paths": [0]}, {}))
	_adds(_passed_on({}, {"name": "cat", "flags": ["lists_names"]}, {}))
}

test_warns_of_names_from_granted_places if {
	_passes(_passed_on({}, {}, {"zone": "temporary"}))
	_passes(_passed_on({}, {}, {"zone": "context", "permission": "write"}))
	_adds(_passed_on({}, {}, {"zone": "context", "permission": "read"}))
	_adds(_passed_on({}, {}, {"zone": "home", "permission": "write"}))
}

test_asks_where_xargs_has_no_names if {
	written := {"access": "write", "raw": "$f", "path": "", "certainty": "unknown"}
	_adds(testing.request([{"via": ["xargs"], "paths": [0]}], [written]))
	_adds(testing.request(
		[{"flags": ["lists_names"], "paths": [0]}, {"via": ["parallel"], "inputs": [0], "paths": [1]}],
		[{"access": "read"}, object.union(written, {"command": 1})],
	))
}

test_leaves_it_to_the_environment_where_programs_are_judged if {
	every source in ["argument", "redirect", "code"] {
		rule.ask == set() with input as testing.judged(_write({}, {"source": source}))
	}
	rule.deny == {_finding} with input as testing.judged(_write({"elevated": true}, {}))
}

test_asks_where_a_trial_did_not_hold if {
	some trial, result in {"write": "untried", "write": "open", "read": "open"}
	doc := object.union(testing.judged(_write({}, {"source": "redirect"})), {"runner": {"confinement": {trial: result}}})
	rule.ask == {_finding} with input as doc
}
