package sallyport.rules.dangerous.permissions_test

import data.sallyport.rules.dangerous.permissions as rule
import data.sallyport.testing

_chmod(flags, path) := testing.request(
	[{"flags": array.concat(["mode_change"], flags), "paths": [0]}],
	[object.union({"access": "write"}, path)],
)

test_denies_opening_a_system_file if {
	doc := _chmod(["widens"], {"zone": "system"})
	rule.deny == {{"command": 0, "path": 0}} with input as doc
	rule.warn == set() with input as doc
	rule.ask == set() with input as _chmod(["widens"], {"zone": "system", "certainty": "unknown"})
}

test_denies_recursive_change_outside if {
	rule.deny == {{"command": 0, "path": 0}} with input as _chmod(["recursive"], {"zone": "outside"})
}

test_allows_recursive_change_in_the_workspace if {
	doc := _chmod(["recursive"], {})
	rule.deny == set() with input as doc
	rule.warn == set() with input as doc
	rule.ask == set() with input as doc
}

test_allows_plain_change_outside if {
	rule.deny == set() with input as _chmod(["make_executable"], {"zone": "outside"})
}

test_warns_of_open_files_in_the_workspace if {
	doc := _chmod(["widens"], {})
	rule.deny == set() with input as doc
	rule.warn == {{"command": 0}} with input as doc
}

test_asks_where_the_file_is_not_known if {
	doc := _chmod(["widens"], {"certainty": "unknown"})
	rule.ask == {{"command": 0}} with input as doc
	rule.warn == set() with input as doc
}

test_warns_of_open_files_in_granted_places if {
	every zone in ["context", "temporary"] {
		doc := _chmod(["widens"], {"zone": zone})
		rule.deny == set() with input as doc
		rule.warn == {{"command": 0}} with input as doc
	}
}

test_takes_a_reference_for_no_change if {
	doc := testing.request(
		[{"flags": ["mode_change", "widens"], "paths": [0, 1, 2]}],
		[{"access": "write"}, {"zone": "system"}, {"certainty": "unknown"}],
	)
	rule.deny == set() with input as doc
	rule.ask == set() with input as doc
	rule.warn == {{"command": 0}} with input as doc
}

test_takes_the_output_for_no_mode_change if {
	doc := testing.request(
		[{"flags": ["mode_change", "widens"], "paths": [0, 1, 2]}],
		[
			{"access": "write"},
			{"access": "write", "zone": "system", "source": "redirect"},
			{"access": "write", "certainty": "unknown", "source": "redirect"},
		],
	)
	rule.deny == set() with input as doc
	rule.ask == set() with input as doc
	rule.warn == {{"command": 0}} with input as doc
}
