package sallyport.rules.system.data_destruction_test

import data.sallyport.rules.system.data_destruction as rule
import data.sallyport.testing

test_denies_beyond_this_machine if {
	doc := testing.command({"flags": ["destroys_data", "remote"]})
	rule.deny == {{"command": 0}} with input as doc
	rule.ask == set() with input as doc
}

test_asks_for_local_data if {
	doc := testing.command({"flags": ["destroys_data"]})
	rule.ask == {{"command": 0}} with input as doc
	rule.deny == set() with input as doc
}

test_allows_dry_runs if {
	doc := testing.command({"flags": ["destroys_data", "dry_run", "remote"]})
	rule.deny == set() with input as doc
	rule.ask == set() with input as doc
}
