package sallyport.rules.network.upload_test

import data.sallyport.rules.network.upload as rule
import data.sallyport.testing

_upload(hosts) := testing.command({"effects": ["network"], "flags": ["uploads"], "hosts": hosts})

test_asks_for_other_machines if {
	rule.ask == {{"command": 0}} with input as _upload(["example.com"])
	rule.ask == {{"command": 0}} with input as _upload(["localhost", "example.com"])
}

test_asks_where_the_host_is_not_known if {
	rule.ask == {{"command": 0}} with input as _upload([])
}

test_allows_this_machine if {
	rule.ask == set() with input as _upload(["localhost"])
}

test_allows_downloads if {
	rule.ask == set() with input as testing.command({"flags": ["downloads"], "hosts": ["example.com"]})
}

test_asks_for_files_of_others_even_here if {
	doc := testing.request(
		[{"flags": ["uploads"], "hosts": ["localhost"], "paths": [0]}],
		[{"path": "/etc/hosts", "zone": "system"}],
	)
	rule.ask == {{"command": 0}} with input as doc
}

test_asks_for_files_of_any_other_place if {
	command := {"flags": ["uploads"], "hosts": ["localhost"], "paths": [0]}
	every zone in ["credential", "home", "outside", "system"] {
		rule.ask == {{"command": 0}} with input as testing.request([command], [{"zone": zone}])
	}
	every fields in [{"access": "write"}, {"source": "redirect"}] {
		doc := testing.request([command], [object.union({"zone": "home"}, fields)])
		rule.ask == set() with input as doc
	}
}

test_leaves_publishing_and_pushing_to_their_rules if {
	rule.ask == set() with input as testing.command({"flags": ["publishes", "uploads"]})
	rule.ask == set() with input as testing.command({"name": "git", "flags": ["uploads"]})
	rule.ask == set() with input as testing.command({"flags": ["dry_run", "uploads"]})
}
