package sallyport.rules.system.exhaustion_test

import data.sallyport.rules.system.exhaustion as rule
import data.sallyport.testing

test_asks if {
	rule.ask == {{"command": 0}} with input as testing.command({"name": "x", "flags": ["exhausts"]})
}

test_allows_without if {
	rule.ask == set() with input as testing.command({"name": "x", "flags": []})
}
