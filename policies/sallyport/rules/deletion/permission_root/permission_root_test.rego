package sallyport.rules.deletion.permission_root_test

import data.sallyport.rules.deletion.permission_root as rule
import data.sallyport.testing

_delete(fields) := testing.path(object.union({"access": "delete", "path": "/ctx", "zone": "context"}, fields))

_finding := {"path": 0, "msg": "/ctx is a granted place, or lies around one"}

test_denies_root_and_its_contents if {
	rule.deny == {_finding} with input as _delete({"recursive": true, "labels": ["permission_root"]})
	rule.deny == {_finding} with input as _delete({"labels": ["permission_root", "wildcard_all"]})
	rule.deny == {_finding} with input as _delete({"type": "dir", "labels": ["permission_root"]})
	rule.deny == {_finding} with input as _delete({"recursive": true, "labels": ["contains_permission_root"]})
}

test_asks_for_temporary_roots if {
	doc := _delete({"recursive": true, "labels": ["permission_root"], "zone": "temporary"})
	rule.ask == {{"path": 0, "msg": "others may be using /ctx"}} with input as doc
	rule.deny == set() with input as doc
}

test_leaves_the_workspace_to_its_rule if {
	rule.deny == set() with input as _delete({"recursive": true, "labels": ["permission_root", "workspace_root"]})
}

test_allows_what_lies_inside if {
	rule.deny == set() with input as _delete({"recursive": true})
}

test_allows_what_a_search_picks_out if {
	rule.deny == set() with input as _delete({"recursive": true, "labels": ["filtered", "permission_root"]})
}

_root := {"recursive": true, "labels": ["permission_root"]}

test_allows_other_accesses_and_unknown_names if {
	every fields in [{"access": "write"}, {"certainty": "pattern"}, {"recursive": false}] {
		every zone in ["context", "temporary"] {
			doc := _delete(object.union(object.union(_root, {"zone": zone}), fields))
			rule.deny == set() with input as doc
			rule.ask == set() with input as doc
		}
	}
}

test_asks_for_temporary_roots_only if {
	rule.ask == set() with input as _delete(_root)
	rule.ask == set() with input as _delete({"recursive": true, "zone": "temporary"})
	rule.deny == set() with input as _delete({"recursive": true, "labels": ["permission_root", "contains_workspace"]})
}
