package sallyport.rules.dangerous.permissions_test

import data.sallyport.rules.dangerous.permissions as rule
import data.sallyport.testing

_chmod(flags, path) := testing.request(
	[{"flags": array.concat(["mode_change"], flags), "paths": [0]}],
	[object.union({"access": "write"}, path)],
)

test_denies_opening_a_system_file if {
	rule.deny == {{"command": 0, "path": 0}} with input as _chmod(["widens"], {"zone": "system"})
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
