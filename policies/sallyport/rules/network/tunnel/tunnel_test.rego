package sallyport.rules.network.tunnel_test

import data.sallyport.rules.network.tunnel as rule
import data.sallyport.testing

test_asks if {
	rule.ask == {{"command": 0}} with input as testing.command({"effects": ["network"], "flags": ["tunnel"]})
}

test_allows_listening if {
	rule.ask == set() with input as testing.command({"effects": ["network"], "flags": ["listens"]})
}
