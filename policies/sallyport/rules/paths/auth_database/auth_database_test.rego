package sallyport.rules.paths.auth_database_test

import data.sallyport.rules.paths.auth_database as rule
import data.sallyport.testing

_shadow(labels) := testing.path({"path": "/etc/shadow", "labels": array.concat(["auth_database"], labels)})

test_denies_reading if {
	want := {{"path": 0, "msg": "/etc/shadow holds the passwords or rights of users"}}
	rule.deny == want with input as _shadow([])
}

test_denies_file_tools if {
	doc := testing.path({"path": "/etc/shadow", "labels": ["auth_database"], "command": -1})
	rule.deny == {{"path": 0, "msg": "/etc/shadow holds the passwords or rights of users"}} with input as doc
}

test_allows_listing if {
	rule.deny == set() with input as _shadow(["metadata"])
}

test_leaves_changes_to_their_rule if {
	rule.deny == set() with input as testing.path({"access": "write", "labels": ["auth_database"]})
}

test_allows_other_files if {
	rule.deny == set() with input as testing.path({"labels": ["account_database"]})
}
