package sallyport.rules.system.kill_all_test

import data.sallyport.rules.system.kill_all as rule
import data.sallyport.testing

test_denies_all if {
	rule.deny == {{"command": 0}} with input as testing.command({"flags": ["kills_all"]})
}

test_denies_init if {
	rule.deny == {{"command": 0}} with input as testing.command({"flags": ["kills_init"]})
}

test_allows_one_process if {
	rule.deny == set() with input as testing.command({"effects": ["process"]})
}
