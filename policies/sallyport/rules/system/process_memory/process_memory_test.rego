package sallyport.rules.system.process_memory_test

import data.sallyport.rules.system.process_memory as rule
import data.sallyport.testing

test_asks if {
	rule.ask == {{"command": 0}} with input as testing.command({"name": "x", "flags": ["process_memory"]})
}

test_allows_without if {
	rule.ask == set() with input as testing.command({"name": "x", "flags": []})
}
