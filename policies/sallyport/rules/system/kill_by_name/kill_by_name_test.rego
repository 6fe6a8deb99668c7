package sallyport.rules.system.kill_by_name_test

import data.sallyport.rules.system.kill_by_name as rule
import data.sallyport.testing

test_asks_by_name if {
	rule.ask == {{"command": 0}} with input as testing.command({"flags": ["kills_by_name"]})
}

test_asks_for_unknown_process if {
	rule.ask == {{"command": 0}} with input as testing.command({"flags": ["kills_unknown"]})
}

test_allows_known_process_and_scripts if {
	rule.ask == set() with input as testing.command({"effects": ["process"]})
	rule.ask == set() with input as testing.command({"flags": ["kills_unknown"], "script": "./x.sh"})
}
