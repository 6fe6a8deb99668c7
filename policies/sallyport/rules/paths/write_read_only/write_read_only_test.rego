package sallyport.rules.paths.write_read_only_test

import data.sallyport.rules.paths.write_read_only as rule
import data.sallyport.testing

_read_only(fields) := testing.path(object.union({"path": "/ctx/f", "permission": "read", "zone": "context"}, fields))

test_denies_write_and_delete if {
	finding := {"path": 0, "msg": "/ctx/f is granted for reading only"}
	rule.deny == {finding} with input as _read_only({"access": "write"})
	rule.deny == {finding} with input as _read_only({"access": "delete"})
}

test_allows_reading if {
	rule.deny == set() with input as _read_only({})
}

test_leaves_other_places_to_their_rules if {
	rule.deny == set() with input as _read_only({"access": "write", "zone": "protected"})
	rule.deny == set() with input as _read_only({"access": "write", "zone": "self"})
	rule.deny == set() with input as _read_only({"access": "write", "certainty": "unknown"})
	rule.deny == set() with input as _read_only({"access": "write", "labels": ["std_device"]})
	rule.deny == set() with input as _read_only({"access": "write", "labels": ["null_device"]})
}
