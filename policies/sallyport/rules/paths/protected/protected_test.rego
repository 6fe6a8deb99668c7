package sallyport.rules.paths.protected_test

import data.sallyport.rules.paths.protected as rule
import data.sallyport.testing

test_denies_changes if {
	doc := testing.path({"access": "write", "zone": "protected", "path": "/ws/p"})
	rule.deny == {{"path": 0, "msg": "/ws/p is protected"}} with input as doc
	every labels in [["contains_protected"], ["contains_protected", "filtered"]] {
		around := {"access": "delete", "zone": "protected", "path": "/ws/p", "labels": labels}
		rule.deny == {{"path": 0, "msg": "/ws/p is protected"}} with input as testing.path(around)
		rule.ask == set() with input as testing.path(around)
	}
}

test_denies_delete_of_what_is_around_it if {
	doc := testing.path({"access": "delete", "path": "/ws/d", "recursive": true, "labels": ["contains_protected"]})
	rule.deny == {{"path": 0, "msg": "a protected place lies below /ws/d"}} with input as doc
	written := testing.path({"access": "write", "path": "/ws/d", "labels": ["contains_protected"]})
	rule.deny == {{"path": 0, "msg": "a protected place lies below /ws/d"}} with input as written
	rule.ask == set() with input as written
}

test_asks_where_a_search_picks if {
	found := {"access": "delete", "path": "/ws/d", "labels": ["contains_protected", "filtered"]}
	doc := testing.path(found)
	rule.deny == set() with input as doc
	finding := {"path": 0, "msg": "a protected place lies below /ws/d, and the search may pick it out"}
	rule.ask == {finding} with input as doc
	rule.ask == {finding} with input as testing.path(object.union(found, {"access": "write"}))
	rule.ask == set() with input as testing.path(object.union(found, {"access": "read"}))
}

test_allows_reading if {
	rule.deny == set() with input as testing.path({"zone": "protected"})
	rule.deny == set() with input as testing.path({"labels": ["contains_protected"]})
}
