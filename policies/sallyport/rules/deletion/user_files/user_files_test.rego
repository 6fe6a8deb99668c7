package sallyport.rules.deletion.user_files_test

import data.sallyport.rules.deletion.user_files as rule
import data.sallyport.testing

_delete(fields) := testing.path(object.union({"access": "delete", "path": "/h/d", "zone": "home", "recursive": true}, fields))

test_asks_for_a_directory if {
	rule.ask == {{"path": 0, "msg": "/h/d lies in a home directory"}} with input as _delete({})
	rule.ask == {{"path": 0, "msg": "/h/d lies in a home directory"}} with input as _delete({"recursive": false, "glob": true})
}

test_allows_a_single_file if {
	rule.ask == set() with input as _delete({"recursive": false})
}

test_asks_for_a_tree_that_only_a_wide_root_grants if {
	finding := {"path": 0, "msg": "/h/d is no part of the work at hand"}
	rule.ask == {finding} with input as _delete({"zone": "context", "labels": ["wide_root"]})
	rule.ask == set() with input as _delete({"zone": "context"})
	rule.ask == set() with input as _delete({"zone": "context", "labels": ["wide_root"], "recursive": false})
}

test_allows_caches_and_own_work if {
	rule.ask == set() with input as _delete({"labels": ["cache"]})
	rule.ask == set() with input as _delete({"labels": ["generated_here"]})
	rule.ask == set() with input as _delete({"zone": "workspace"})
}
