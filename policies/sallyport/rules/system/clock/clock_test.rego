package sallyport.rules.system.clock_test

import data.sallyport.rules.system.clock as rule
import data.sallyport.testing

test_asks if {
	rule.ask == {{"command": 0}} with input as testing.command({"flags": ["clock"]})
}

test_allows_other_commands if {
	rule.ask == set() with input as testing.command({"name": "date"})
}
