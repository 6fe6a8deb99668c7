package sallyport.rules.massgen.fork_bomb_test

import data.sallyport.rules.massgen.fork_bomb as rule

test_denies_the_pattern if {
	expected := {{"msg": "Potentially dangerous command detected: Fork bombs are not allowed"}}
	rule.deny == expected with input as {"shell": {"legacy": ["fork_bomb"]}, "runner": {"elevated": false}}
}

test_allows_other_patterns if {
	rule.deny == set() with input as {"shell": {"legacy": ["sudo"]}, "runner": {"elevated": false}}
}
