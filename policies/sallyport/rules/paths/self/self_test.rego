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

test_allows_reading_and_running if {
	rule.deny == set() with input as _self("read")
	rule.deny == set() with input as _self("execute")
}
