package sallyport.rules.dangerous.unresolved_delete_test

import data.sallyport.rules.dangerous.unresolved_delete as rule
import data.sallyport.testing

_delete(command, path) := testing.request([command], [object.union({"access": "delete", "raw": "$d"}, path)])

test_denies_recursive_delete_of_unknown if {
	want := {{"path": 0, "msg": "the value of $d is not known before it runs"}}
	rule.deny == want with input as _delete({}, {
		"certainty": "unknown",
		"recursive": true,
		"path": "",
	})
}

test_denies_known_beginning_that_is_too_wide if {
	rule.deny == {{"path": 0, "msg": "only the beginning of $d is known: /"}} with input as _delete({}, {
		"certainty": "partial",
		"recursive": true,
		"path": "/",
	})
}

test_allows_known_beginning_in_the_workspace if {
	rule.deny == set() with input as _delete({}, {
		"certainty": "partial",
		"recursive": true,
		"path": "/ws/out",
	})
}

test_allows_exact if {
	rule.deny == set() with input as _delete({}, {"recursive": true})
	rule.deny == set() with input as _delete({}, {"recursive": true, "path": "/"})
	rule.ask == set() with input as _delete({"script": "./x.sh"}, {"recursive": true, "zone": "home"})
}

test_asks_for_scripts if {
	doc := _delete({"script": "./x.sh"}, {"certainty": "unknown", "recursive": true})
	rule.deny == set() with input as doc
	want := {{"path": 0, "msg": "a script deletes $d, which is not known before it runs"}}
	rule.ask == want with input as doc
}

test_allows_one_unknown_file_in_a_script if {
	rule.ask == set() with input as _delete({"script": "./x.sh"}, {"certainty": "unknown"})
}

test_asks_nothing_where_it_denies if {
	rule.ask == set() with input as _delete({}, {"certainty": "unknown", "recursive": true})
}

test_leaves_what_a_program_was_told_in_other_ways if {
	rule.ask == set() with input as _delete({}, {"certainty": "unknown", "source": "redirect"})
}

test_asks_for_forced_delete if {
	rule.ask == {{"path": 0, "msg": "the value of $d is not known before it runs"}} with input as _delete(
		{"flags": ["force"]},
		{"certainty": "unknown"},
	)
}

test_asks_for_plain_delete_and_move if {
	finding := {"path": 0, "msg": "the value of $d is not known before it runs"}
	rule.ask == {finding} with input as _delete({}, {"certainty": "unknown"})
	rule.ask == {finding} with input as _delete({"flags": ["moves"]}, {"certainty": "unknown", "recursive": true})
}

test_allows_names_from_a_listing if {
	rule.ask == set() with input as _delete({}, {"certainty": "unknown", "labels": ["listed_name"]})
	count(rule.ask) == 1 with input as _delete({"via": ["find -exec", "bash -c"]}, {"certainty": "unknown"})
}

test_denies_many_names_below_the_root if {
	every carrier in ["find -exec", "find -execdir", "parallel", "xargs"] {
		doc := _delete({"via": ["env", carrier]}, {"certainty": "partial", "path": "/", "zone": "system"})
		rule.deny == {{"path": 0, "msg": "only the beginning of $d is known: /"}} with input as doc
		rule.ask == set() with input as doc
	}
}

test_leaves_one_name_below_the_root_to_another_rule if {
	doc := _delete({"via": ["env"]}, {"certainty": "partial", "path": "/"})
	rule.deny == set() with input as doc
	rule.ask == set() with input as doc
	rule.ask == set() with input as _delete({}, {"certainty": "partial", "path": "/h/", "zone": "home"})
}

test_asks_for_a_beginning_beyond_the_workspace if {
	every zone in ["home", "outside", "system"] {
		doc := _delete({}, {"certainty": "partial", "recursive": true, "path": "/h/", "zone": zone})
		rule.ask == {{"path": 0, "msg": "only the beginning of $d is known: /h/"}} with input as doc
		rule.deny == set() with input as doc
	}
}

test_allows_caches if {
	rule.ask == set() with input as _delete({}, {
		"certainty": "partial",
		"recursive": true,
		"path": "/h/.cache/",
		"zone": "home",
		"labels": ["cache"],
	})
}

test_allows_moves if {
	rule.deny == set() with input as _delete({"flags": ["moves"]}, {"certainty": "unknown", "recursive": true})
}

test_asks_for_a_delete_by_code if {
	want := {{"path": 0, "msg": "the value of $d is not known before it runs"}}
	rule.ask == want with input as _delete({}, {
		"certainty": "unknown",
		"source": "code",
		"path": "",
	})
}

test_leaves_names_of_a_listing_to_their_places if {
	fields := {"access": "delete", "certainty": "unknown", "recursive": true, "labels": ["listed_name"]}
	rule.deny == set() with input as testing.path(fields)
	count(rule.deny) == 1 with input as testing.path(object.union(fields, {"labels": []}))
}
