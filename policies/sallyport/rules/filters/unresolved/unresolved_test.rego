package sallyport.rules.filters.unresolved_test

import data.sallyport.rules.filters.unresolved as rule
import data.sallyport.testing

_unknown := testing.command({"name": "", "certainty": "unknown"})

test_denies_with_either_list if {
	rule.deny == {{"command": 0}} with input as _unknown with data.sallyport.config.filters as {"allow": 1, "deny": 0}
	rule.deny == {{"command": 0}} with input as _unknown with data.sallyport.config.filters as {"allow": 0, "deny": 2}
}

test_allows_without_lists if {
	rule.deny == set() with input as _unknown with data.sallyport.config.filters as {"allow": 0, "deny": 0}
}

test_allows_known_commands if {
	rule.deny == set() with input as testing.command({"certainty": "partial"}) with data.sallyport.config.filters as {"allow": 1, "deny": 1}
}
