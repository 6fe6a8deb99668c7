package sallyport.rules.paths.unresolved_write_test

import data.sallyport.rules.paths.unresolved_write as rule
import data.sallyport.testing

_write(command, path) := testing.request([command], [object.union(
	{"access": "write", "raw": "$f", "path": "", "certainty": "unknown"},
	path,
)])

_finding := {"path": 0, "msg": "what $f stands for is not known before it runs"}

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
