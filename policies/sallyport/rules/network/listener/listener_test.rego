package sallyport.rules.network.listener_test

import data.sallyport.rules.network.listener as rule
import data.sallyport.testing

test_warns if {
	rule.warn == {{"command": 0}} with input as testing.command({"flags": ["listens"]})
}

test_allows_clients if {
	rule.warn == set() with input as testing.command({"effects": ["network"]})
}
