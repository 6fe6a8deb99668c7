package sallyport.rules.dangerous.ownership_test

import data.sallyport.rules.dangerous.ownership as rule
import data.sallyport.testing

_chown(flags, path) := testing.request([{"flags": flags, "paths": [0]}], [object.union({"access": "write"}, path)])

test_denies_owner_and_access_list_outside if {
	rule.deny == {{"command": 0, "path": 0}} with input as _chown(["owner_change"], {"zone": "system"})
	rule.deny == {{"command": 0, "path": 0}} with input as _chown(["acl_change"], {"zone": "home"})
}

test_asks_where_the_place_is_not_known if {
	doc := _chown(["owner_change", "recursive"], {"zone": "outside", "certainty": "unknown"})
	rule.deny == set() with input as doc
	rule.ask == {{"command": 0, "path": 0}} with input as doc
}

test_takes_a_reference_for_no_change if {
	rule.deny == set() with input as _chown(["owner_change"], {"access": "read", "zone": "system"})
	unknown := {"access": "read", "certainty": "unknown"}
	rule.ask == set() with input as _chown(["owner_change", "recursive"], unknown)
}

test_leaves_a_single_unknown_file_to_another_rule if {
	rule.ask == set() with input as _chown(["owner_change"], {"certainty": "unknown"})
}

test_allows_in_granted_places if {
	rule.deny == set() with input as _chown(["owner_change"], {"zone": "context"})
	rule.deny == set() with input as _chown(["owner_change"], {"zone": "temporary"})
	rule.deny == set() with input as _chown(["owner_change", "recursive"], {})
	rule.ask == set() with input as _chown(["owner_change", "recursive"], {})
}

test_takes_the_output_for_no_owner_change if {
	rule.deny == set() with input as _chown(["owner_change"], {"zone": "system", "source": "redirect"})
	unknown := {"certainty": "unknown", "source": "redirect"}
	rule.ask == set() with input as _chown(["owner_change", "recursive"], unknown)
}
