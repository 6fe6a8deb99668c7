package sallyport.rules.filters.not_allowed_test

import data.sallyport.rules.filters.not_allowed as rule
import data.sallyport.testing

_listed := {"matches": {"allow": true, "deny": [], "exempt": []}}

_filters := {"allow": 1, "deny": 0}

test_denies_what_is_not_listed if {
	doc := testing.request([_listed, {"program": "curl"}], [])
	rule.deny == {{"command": 1, "msg": "curl is not on the list"}} with input as doc with data.sallyport.config.filters as _filters
}

test_allows_what_is_listed if {
	rule.deny == set() with input as testing.command(_listed) with data.sallyport.config.filters as _filters
}

test_allows_assignments_and_script_lines if {
	doc := testing.request([{"argv": []}, {"script": "./x.sh"}], [])
	rule.deny == set() with input as doc with data.sallyport.config.filters as _filters
}

test_allows_all_without_a_list if {
	rule.deny == set() with input as testing.command({}) with data.sallyport.config.filters as {"allow": 0, "deny": 1}
}
