package sallyport.rules.git.config_exec_test

import data.sallyport.rules.git.config_exec as rule
import data.sallyport.testing

test_denies if {
	doc := testing.command({"flags": ["config_exec"]})
	rule.deny == {{"command": 0}} with input as doc
	rule.ask == set() with input as doc
}

test_asks_in_script_files if {
	doc := testing.command({"flags": ["config_exec"], "script": "./x.sh"})
	rule.deny == set() with input as doc
	rule.ask == {{"command": 0}} with input as doc
}

test_allows_plain_configuration if {
	rule.deny == set() with input as testing.command({"name": "git", "subcommand": "config"})
	rule.ask == set() with input as testing.command({"name": "git", "subcommand": "config"})
}

test_silent_for_programs_of_a_command if {
	every script in ["", "./x.sh"] {
		doc := testing.command({"flags": ["config_exec"], "script": script})
		started := object.union(doc, {"request": {"tool": "program"}})
		rule.deny == set() with input as started
		rule.ask == set() with input as started
	}
}
