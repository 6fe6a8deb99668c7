package sallyport.rules.system.network_settings_test

import data.sallyport.rules.system.network_settings as rule
import data.sallyport.testing

test_asks if {
	rule.ask == {{"command": 0}} with input as testing.command({"name": "x", "flags": ["network_config"]})
}

test_allows_without if {
	rule.ask == set() with input as testing.command({"name": "x", "flags": []})
}
