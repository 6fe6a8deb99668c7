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

test_leaves_all_processes_to_another_rule if {
	rule.ask == set() with input as testing.command({"flags": ["kills_all", "kills_by_name"]})
	rule.ask == set() with input as testing.command({"flags": ["kills_all", "kills_by_name", "kills_unknown"]})
}

test_asks_in_a_script_by_name if {
	rule.ask == {{"command": 0}} with input as testing.command({"flags": ["kills_by_name"], "script": "./x.sh"})
}
