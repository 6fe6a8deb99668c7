package sallyport.rules.filters.denied_test

import data.sallyport.rules.filters.denied as rule
import data.sallyport.testing

test_denies_a_match if {
	rule.deny == {{"command": 1, "msg": "git matches a denied pattern"}} with input as testing.request(
		[{}, {"program": "git", "script": "./x.sh", "matches": {"allow": true, "deny": [0], "exempt": []}}],
		[],
	)
}

test_allows_the_rest if {
	rule.deny == set() with input as testing.command({})
}
