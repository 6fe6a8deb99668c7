package sallyport.rules.dangerous.setid_test

import data.sallyport.rules.dangerous.setid as rule
import data.sallyport.testing

test_denies_setid if {
	rule.deny == {{"command": 0}} with input as testing.command({"flags": ["mode_change", "setid"]})
}

test_allows_plain_modes if {
	rule.deny == set() with input as testing.command({"flags": ["mode_change", "make_executable"]})
}
