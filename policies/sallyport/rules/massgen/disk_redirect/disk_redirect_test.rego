package sallyport.rules.massgen.disk_redirect_test

import data.sallyport.rules.massgen.disk_redirect as rule

test_denies_the_pattern if {
	expected := {{"msg": "Potentially dangerous command detected: Overwriting disk blocks directly is not allowed"}}
	rule.deny == expected with input as {"shell": {"legacy": ["disk_redirect"]}, "runner": {"elevated": false}}
}

test_allows_other_patterns if {
	rule.deny == set() with input as {"shell": {"legacy": ["sudo"]}, "runner": {"elevated": false}}
}
