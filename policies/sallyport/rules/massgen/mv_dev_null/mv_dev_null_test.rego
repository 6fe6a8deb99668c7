package sallyport.rules.massgen.mv_dev_null_test

import data.sallyport.rules.massgen.mv_dev_null as rule

test_denies_the_pattern if {
	expected := {{"msg": "Potentially dangerous command detected: Moving files to /dev/null is not allowed"}}
	rule.deny == expected with input as {"shell": {"legacy": ["mv_dev_null"]}, "runner": {"elevated": false}}
}

test_allows_other_patterns if {
	rule.deny == set() with input as {"shell": {"legacy": ["sudo"]}, "runner": {"elevated": false}}
}
