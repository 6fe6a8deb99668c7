package sallyport.rules.paths.system_write_test

import data.sallyport.rules.paths.system_write as rule
import data.sallyport.testing

_system(fields) := testing.path(object.union({"zone": "system", "path": "/etc/f", "access": "write"}, fields))

_finding := {"path": 0, "msg": "/etc/f belongs to the operating system"}

test_asks_for_a_granted_write if {
	rule.ask == {_finding} with input as _system({})
	rule.deny == set() with input as _system({})
}

test_denies_account_files_and_deletes if {
	rule.deny == {_finding} with input as _system({"labels": ["auth_database"]})
	rule.ask == set() with input as _system({"labels": ["auth_database"]})
	rule.deny == {_finding} with input as _system({"access": "delete", "labels": ["system_root"]})
}

test_leaves_what_is_not_granted_to_its_rule if {
	rule.ask == set() with input as _system({"permission": "none"})
}

test_allows_reading_and_devices if {
	rule.ask == set() with input as _system({"access": "read"})
	rule.ask == set() with input as _system({"labels": ["null_device"]})
}
