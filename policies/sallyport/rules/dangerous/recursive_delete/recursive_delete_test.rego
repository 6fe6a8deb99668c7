package sallyport.rules.dangerous.recursive_delete_test

import data.sallyport.rules.dangerous.recursive_delete as rule
import data.sallyport.testing

_delete(fields) := testing.path(object.union({"access": "delete", "path": "/x"}, fields))

test_denies_root if {
	rule.deny == {{"path": 0, "msg": "this deletes the root of the file system: /x"}} with input as _delete({
		"recursive": true,
		"labels": ["contains_home", "root", "top_level"],
	})
}

test_denies_everything_in_the_workspace if {
	rule.deny == {{"path": 0, "msg": "this deletes the workspace itself, or a directory around it: /x"}} with input as _delete({"labels": [
		"wildcard_all",
		"workspace_root",
	]})
}

test_denies_a_parent_of_home if {
	rule.deny == {{"path": 0, "msg": "this deletes a directory with the home directory in it: /x"}} with input as _delete({
		"recursive": true,
		"labels": ["contains_home"],
	})
}

test_allows_a_subdirectory if {
	rule.deny == set() with input as _delete({"recursive": true})
}

test_allows_a_plain_delete_that_cannot_take_a_directory if {
	rule.deny == set() with input as _delete({"labels": ["home_root"]})
}

test_allows_reading_everything if {
	rule.deny == set() with input as _delete({"access": "read", "recursive": true, "labels": ["root"]})
}

test_allows_what_a_search_picks_out_of_the_workspace if {
	rule.deny == set() with input as _delete({"recursive": true, "labels": ["filtered", "workspace_root"]})
}

test_denies_a_search_through_all if {
	rule.deny == {{"path": 0, "msg": "this deletes the root of the file system: /x"}} with input as _delete({
		"recursive": true,
		"labels": ["contains_workspace", "filtered", "root"],
	})
}

_moved(zone, labels, to) := testing.request(
	[{"name": "mv", "flags": ["moves"], "paths": [0, 1]}],
	[
		{"path": "/w", "access": "delete", "command": 0, "zone": zone, "labels": array.concat(["wildcard_all", "workspace_root"], labels)},
		{"path": "/w/new", "access": "write", "command": 0, "zone": to},
	],
)

test_allows_moving_all_within_the_workspace if {
	rule.deny == set() with input as _moved("workspace", [], "workspace")
}

test_denies_moving_all_out_of_it if {
	count(rule.deny) == 1 with input as _moved("workspace", [], "temporary")
}

test_denies_moving_all_around_it_into_it if {
	count(rule.deny) == 1 with input as _moved("home", ["home_root"], "workspace")
	count(rule.deny) == 1 with input as _moved("workspace", ["contains_workspace"], "workspace")
}

test_names_the_worst_place[label] if {
	some label, text in {
		"home_root": "a whole home directory",
		"top_level": "a directory of the operating system",
		"contains_workspace": "a directory with the workspace in it",
	}
	finding := {"path": 0, "msg": $"this deletes {text}: /x"}
	rule.deny == {finding} with input as _delete({"recursive": true, "labels": [label]})
}

test_denies_a_search_through_a_home_or_a_system_directory if {
	every label in ["home_root", "top_level"] {
		count(rule.deny) == 1 with input as _delete({"recursive": true, "labels": ["filtered", label]})
	}
}

test_denies_moving_all_of_a_workspace_that_is_more if {
	every label in ["contains_home", "contains_workspace", "home_root", "root", "top_level"] {
		count(rule.deny) == 1 with input as _moved("workspace", [label], "workspace")
	}
}

test_denies_moving_all_to_nowhere_known if {
	source := {"path": "/w", "access": "delete", "labels": ["wildcard_all", "workspace_root"]}
	mv := {"name": "mv", "flags": ["moves"], "paths": [0, 1]}
	every target in [{"access": "read"}, {"access": "write", "certainty": "unknown"}] {
		count(rule.deny) == 1 with input as testing.request([mv], [source, target])
	}
	partly := {"access": "write", "certainty": "partial"}
	rule.deny == set() with input as testing.request([mv], [source, partly])
}

test_denies_moving_the_workspace_itself if {
	mv := {"name": "mv", "flags": ["moves"], "paths": [0, 1]}
	source := {"path": "/w", "access": "delete", "recursive": true, "labels": ["workspace_root"]}
	count(rule.deny) == 1 with input as testing.request([mv], [source, {"access": "write"}])
}

test_leaves_unknown_places_to_another_rule if {
	rule.deny == set() with input as _delete({"recursive": true, "labels": ["root"], "certainty": "partial"})
}
