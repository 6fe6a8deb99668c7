package sallyport.rules.paths.write_outside_test

import data.sallyport.rules.paths.write_outside as rule
import data.sallyport.testing

_write(fields) := testing.path(object.union({"access": "write", "path": "/p", "permission": "none", "zone": "outside"}, fields))

test_denies_write_and_delete if {
	finding := {"path": 0, "msg": "/p lies outside the granted places"}
	rule.deny == {finding} with input as _write({})
	rule.deny == {finding} with input as _write({"access": "delete"})
	rule.deny == {finding} with input as _write({"certainty": "partial", "zone": "system"})
}

test_denies_file_tools if {
	want := {{"path": 0, "msg": "/p lies outside the granted places"}}
	rule.deny == want with input as _write({"command": -1})
}

test_allows_granted_and_temporary_places if {
	rule.deny == set() with input as _write({"permission": "write"})
	rule.deny == set() with input as _write({"zone": "temporary"})
}

test_leaves_credentials_and_sallyport_to_their_rules if {
	rule.deny == set() with input as _write({"zone": "credential"})
	rule.deny == set() with input as _write({"zone": "self"})
}

test_allows_reading if {
	rule.deny == set() with input as _write({"access": "read"})
}

test_allows_null_and_standard_devices if {
	rule.deny == set() with input as _write({"labels": ["null_device"]})
	rule.deny == set() with input as _write({"labels": ["std_device"]})
}

test_leaves_file_tools_to_their_own_rule if {
	rule.deny == set() with input as _write({"source": "tool", "command": -1})
}
