package sallyport.rules.system.security_controls_test

import data.sallyport.rules.system.security_controls as rule
import data.sallyport.testing

test_denies_switching_off if {
	doc := testing.command({"flags": ["disables_security", "firewall"]})
	rule.deny == {{"command": 0}} with input as doc
	rule.ask == set() with input as doc
}

test_asks_for_firewall_rules if {
	rule.ask == {{"command": 0}} with input as testing.command({"flags": ["firewall"]})
	rule.deny == set() with input as testing.command({"flags": ["firewall"]})
}

test_allows_other_commands if {
	rule.deny == set() with input as testing.command({})
	rule.ask == set() with input as testing.command({})
}
