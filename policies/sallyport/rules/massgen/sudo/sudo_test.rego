package sallyport.rules.massgen.sudo_test

import data.sallyport.rules.massgen.sudo as rule

test_denies_the_pattern if {
	expected := {{"msg": "Potentially dangerous command detected: Use of 'sudo' is not allowed"}}
	rule.deny == expected with input as {"shell": {"legacy": ["sudo"]}, "runner": {"elevated": false}}
}

test_allows_other_patterns if {
	rule.deny == set() with input as {"shell": {"legacy": ["su"]}, "runner": {"elevated": false}}
}
