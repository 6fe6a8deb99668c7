package sallyport.rules.massgen.rm_rf_root_test

import data.sallyport.rules.massgen.rm_rf_root as rule

test_denies_the_pattern if {
	expected := {{"msg": "Potentially dangerous command detected: Use of 'rm -rf /' is not allowed"}}
	rule.deny == expected with input as {"shell": {"legacy": ["rm_rf_root"]}, "runner": {"elevated": false}}
}

test_allows_other_patterns if {
	rule.deny == set() with input as {"shell": {"legacy": ["sudo"]}, "runner": {"elevated": false}}
}
