package sallyport.rules.massgen.dd_test

import data.sallyport.rules.massgen.dd as rule

test_denies_the_pattern if {
	expected := {{"msg": "Potentially dangerous command detected: Use of 'dd' command is not allowed"}}
	rule.deny == expected with input as {"shell": {"legacy": ["dd"]}, "runner": {"elevated": false}}
}

test_allows_other_patterns if {
	rule.deny == set() with input as {"shell": {"legacy": ["sudo"]}, "runner": {"elevated": false}}
}
