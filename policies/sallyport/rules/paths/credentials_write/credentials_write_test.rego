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
	count(rule.deny) == 1 with input as _credential({"access": "delete", "labels": ["contains_credential"]})
}

test_allows_delete_of_trees_at_work if {
	every zone in ["workspace", "temporary"] {
		rule.deny == set() with input as _credential({
			"zone": zone,
			"access": "delete",
			"labels": ["contains_credential"],
		})
	}
}

test_allows_keys_made_here if {
	rule.deny == set() with input as _credential({"labels": ["generated_here"], "permission": "write"})
	count(rule.deny) == 1 with input as _credential({"labels": ["generated_here"]})
}

test_allows_reading_here if {
	rule.deny == set() with input as _credential({"access": "read"})
}

test_leaves_modes_to_their_rule if {
	rule.deny == set() with input as _credential({"labels": ["metadata"]})
}
