package sallyport.rules.paths.self_test

import data.sallyport.rules.paths.self as rule
import data.sallyport.testing

_self(access) := testing.path({"zone": "self", "path": "/s", "access": access})

test_denies_changes if {
	rule.deny == {{"path": 0, "msg": "/s belongs to sallyport"}} with input as _self("write")
	rule.deny == {{"path": 0, "msg": "/s belongs to sallyport"}} with input as _self("delete")
}

test_denies_delete_of_what_is_around_it if {
	doc := testing.path({"path": "/d", "access": "delete", "recursive": true, "labels": ["contains_self"]})
	rule.deny == {{"path": 0, "msg": "files of sallyport lie below /d"}} with input as doc
}

test_finds_one_reason_in_a_place_of_its_own if {
	doc := testing.path({"zone": "self", "path": "/s", "access": "delete", "labels": ["contains_self"]})
	rule.deny == {{"path": 0, "msg": "/s belongs to sallyport"}} with input as doc
}

test_allows_reading_and_running if {
	rule.deny == set() with input as _self("read")
	rule.deny == set() with input as _self("execute")
}

test_denies_reading_the_key if {
	doc := testing.path({"zone": "self", "path": "/s", "access": "read", "labels": ["self_key"]})
	rule.deny == {{"path": 0, "msg": "/s is a key of sallyport itself"}} with input as doc
	run := object.union(doc.paths[0], {"access": "execute"})
	rule.deny == set() with input as testing.path(run)
}

test_denies_speaking_by_a_socket if {
	doc := testing.path({"zone": "self", "path": "/s", "access": "read", "labels": ["self_socket"]})
	rule.deny == {{"path": 0, "msg": "/s is a socket of sallyport itself"}} with input as doc
	run := object.union(doc.paths[0], {"access": "execute"})
	rule.deny == {{"path": 0, "msg": "/s is a socket of sallyport itself"}} with input as testing.path(run)
	look := object.union(doc.paths[0], {"labels": ["metadata", "self_socket"]})
	rule.deny == set() with input as testing.path(look)
	change := object.union(doc.paths[0], {"access": "write"})
	rule.deny == {{"path": 0, "msg": "/s belongs to sallyport"}} with input as testing.path(change)
}

test_denies_another_configuration if {
	doc := testing.command({"name": "sallyport", "flags": ["self_control"]})
	rule.deny == {{"command": 0, "msg": "this changes the settings of sallyport itself"}} with input as doc
}

test_allows_running_sallyport if {
	rule.deny == set() with input as testing.command({"name": "sallyport"})
}
