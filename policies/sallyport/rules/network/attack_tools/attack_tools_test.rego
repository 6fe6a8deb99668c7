package sallyport.rules.network.attack_tools_test

import data.sallyport.rules.network.attack_tools as rule
import data.sallyport.testing

test_asks if {
	rule.ask == {{"command": 0}} with input as testing.command({"flags": ["attack_tool"]})
}

test_allows_other_programs if {
	rule.ask == set() with input as testing.command({"name": "ping"})
}
