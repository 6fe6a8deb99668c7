package sallyport.rules.system.freed_agent_test

import data.sallyport.rules.system.freed_agent as rule
import data.sallyport.testing

test_denies_an_agent_that_asks_nobody if {
	rule.deny == {{"command": 0}} with input as testing.command({"name": "claude", "flags": ["frees_agent"]})
}

test_allows_an_agent_that_asks if {
	rule.deny == set() with input as testing.command({"name": "claude", "flags": []})
}
