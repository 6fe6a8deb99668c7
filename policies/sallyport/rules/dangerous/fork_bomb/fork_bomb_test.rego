package sallyport.rules.dangerous.fork_bomb_test

import data.sallyport.rules.dangerous.fork_bomb as rule
import data.sallyport.testing

test_denies_fork_bomb if {
	rule.deny == {{"command": 1}} with input as testing.request([{}, {"flags": ["fork_bomb"]}], [])
}

test_allows_other_commands if {
	rule.deny == set() with input as testing.command({"background": true})
}
