package sallyport.rules.system.mount_test

import data.sallyport.rules.system.mount as rule
import data.sallyport.testing

test_asks if {
	rule.ask == {{"command": 0}} with input as testing.command({"flags": ["mount"]})
}

test_allows_other_commands if {
	rule.ask == set() with input as testing.command({"name": "df"})
}
