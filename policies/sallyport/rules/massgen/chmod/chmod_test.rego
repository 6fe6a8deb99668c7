package sallyport.rules.massgen.chmod_test

import data.sallyport.rules.massgen.chmod as rule

test_denies_the_pattern if {
	expected := {{"msg": "Potentially dangerous command detected: Use of 'chmod' is not allowed"}}
	rule.deny == expected with input as {"shell": {"legacy": ["chmod"]}, "runner": {"elevated": false}}
}

test_allows_other_patterns if {
	rule.deny == set() with input as {"shell": {"legacy": ["sudo"]}, "runner": {"elevated": false}}
}
