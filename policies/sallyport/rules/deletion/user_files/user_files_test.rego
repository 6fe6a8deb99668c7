package sallyport.rules.deletion.user_files_test

import data.sallyport.rules.deletion.user_files as rule
import data.sallyport.testing

_delete(fields) := testing.path(object.union({"access": "delete", "path": "/h/d", "zone": "home", "recursive": true}, fields))

test_asks_for_a_directory if {
	finding := {"path": 0, "msg": "/h/d lies in a home directory"}
	rule.ask == {finding} with input as _delete({})
	rule.ask == {finding} with input as _delete({"recursive": false, "glob": true})
	rule.ask == {finding} with input as _delete({"labels": ["wide_root"]})
}

test_asks_for_all_that_a_search_finds if {
	found := {"zone": "home", "access": "delete", "path": "/h/d"}
	count(rule.ask) == 1 with input as testing.request([{"via": ["find -exec"]}], [found])
	rule.ask == set() with input as testing.request([{"via": ["env"]}], [found])
}

test_leaves_other_accesses_and_places_to_their_rules if {
	wide := {"zone": "context", "labels": ["wide_root"]}
	other := [{"access": "read"}, {"permission": "read"}, {"generated": true}, {"labels": ["home_root"]}]
	every fields in other {
		rule.ask == set() with input as _delete(fields)
		rule.ask == set() with input as _delete(object.union(wide, fields))
	}
}

test_allows_moves_out_of_a_wide_root if {
	moved := {"access": "delete", "zone": "context", "recursive": true, "labels": ["wide_root"]}
	rule.ask == set() with input as testing.request([{"flags": ["moves"]}], [moved])
	count(rule.ask) == 1 with input as testing.request([{}], [moved])
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
