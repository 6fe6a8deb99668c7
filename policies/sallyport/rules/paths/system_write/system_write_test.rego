package sallyport.rules.paths.system_write_test

import data.sallyport.rules.paths.system_write as rule
import data.sallyport.testing

_system(fields) := testing.path(object.union({"zone": "system", "path": "/etc/f", "access": "write"}, fields))

_finding := {"path": 0, "msg": "/etc/f belongs to the operating system"}

test_asks_for_essential_files if {
	doc := _system({"labels": ["system_root"]})
	rule.ask == {_finding} with input as doc
	rule.deny == set() with input as doc
	rule.warn == set() with input as doc
}

test_warns_of_added_files if {
	rule.warn == {_finding} with input as _system({})
	rule.ask == set() with input as _system({})
}

test_denies_account_files_and_whole_trees if {
	every label in ["account_database", "auth_database", "loader_config"] {
		every access in ["write", "delete"] {
			doc := _system({"labels": [label], "access": access})
			rule.deny == {_finding} with input as doc
			rule.ask == set() with input as doc
			rule.warn == set() with input as doc
		}
	}
	rule.deny == {_finding} with input as _system({"access": "delete", "recursive": true, "labels": ["system_root"]})
	rule.deny == set() with input as _system({"recursive": true, "labels": ["system_root"]})
	rule.deny == set() with input as _system({"access": "delete", "labels": ["system_root"]})
}

test_asks_for_added_trees if {
	rule.ask == {_finding} with input as _system({"access": "delete", "recursive": true})
	rule.ask == {_finding} with input as _system({"access": "delete", "labels": ["service_unit"]})
	every label in ["cache", "generated_here"] {
		rule.ask == set() with input as _system({"access": "delete", "recursive": true, "labels": [label]})
	}
}

test_leaves_what_is_not_granted_to_its_rule if {
	every access in ["write", "delete"] {
		doc := _system({"permission": "none", "access": access})
		rule.ask == set() with input as doc
		rule.warn == set() with input as doc
	}
}

test_allows_reading_and_devices if {
	rule.ask == set() with input as _system({"access": "read"})
	every label in ["null_device", "std_device"] {
		rule.warn == set() with input as _system({"labels": [label]})
	}
}

test_asks_for_what_the_kernel_reads if {
	rule.ask == {_finding} with input as _system({"labels": ["procfs"]})
	rule.ask == {_finding} with input as _system({"labels": ["sysfs"]})
}
