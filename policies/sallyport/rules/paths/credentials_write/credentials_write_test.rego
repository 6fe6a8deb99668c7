package sallyport.rules.paths.credentials_write_test

import data.sallyport.rules.paths.credentials_write as rule
import data.sallyport.testing

_credential(fields) := testing.path(object.union({"zone": "credential", "path": "/h/k", "access": "write", "permission": "none"}, fields))

test_denies_changes if {
	rule.deny == {{"path": 0, "msg": "/h/k holds credentials"}} with input as _credential({})
	rule.deny == {{"path": 0, "msg": "/h/k holds credentials"}} with input as _credential({"access": "delete"})
}

test_denies_delete_of_what_is_around_them if {
	doc := _credential({"zone": "home", "access": "delete", "recursive": true, "labels": ["contains_credential"]})
	rule.deny == {{"path": 0, "msg": "credentials lie below /h/k"}} with input as doc
}

test_allows_keys_made_here if {
	rule.deny == set() with input as _credential({"labels": ["generated_here"], "permission": "write"})
}

test_allows_reading_here if {
	rule.deny == set() with input as _credential({"access": "read"})
}

test_leaves_modes_to_their_rule if {
	rule.deny == set() with input as _credential({"labels": ["metadata"]})
}
