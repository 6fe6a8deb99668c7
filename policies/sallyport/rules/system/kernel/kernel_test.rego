package sallyport.rules.system.kernel_test

import data.sallyport.rules.system.kernel as rule
import data.sallyport.testing

test_denies if {
	rule.deny == {{"command": 0}} with input as testing.command({"flags": ["kernel"]})
}

test_allows_other_commands if {
	rule.deny == set() with input as testing.command({"name": "lsmod"})
}
