package sallyport.rules.strict.read_outside_test

import data.sallyport.rules.strict.read_outside as rule
import data.sallyport.testing

_read(fields) := testing.path(object.union({"path": "/p", "zone": "outside", "permission": "none"}, fields))

test_asks if {
	rule.ask == {{"path": 0, "msg": "/p lies outside the granted places"}} with input as _read({})
	want := {{"path": 0, "msg": "/p lies outside the granted places"}}
	rule.ask == want with input as _read({"zone": "home"})
}

test_allows_granted_and_system_places if {
	rule.ask == set() with input as _read({"permission": "read"})
	rule.ask == set() with input as _read({"zone": "system"})
}

test_allows_names if {
	rule.ask == set() with input as _read({"labels": ["metadata"]})
}

test_leaves_other_accesses_and_unknown_names if {
	rule.ask == set() with input as _read({"access": "write"})
	rule.ask == set() with input as _read({"certainty": "unknown"})
}
