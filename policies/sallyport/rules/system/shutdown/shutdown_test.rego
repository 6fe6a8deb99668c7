package sallyport.rules.system.shutdown_test

import data.sallyport.rules.system.shutdown as rule
import data.sallyport.testing

test_denies if {
	rule.deny == {{"command": 0}} with input as testing.command({"flags": ["shutdown"]})
}

test_allows_other_commands if {
	rule.deny == set() with input as testing.command({"name": "uptime"})
}
