package sallyport.rules.system.publish_test

import data.sallyport.rules.system.publish as rule
import data.sallyport.testing

test_asks if {
	rule.ask == {{"command": 0}} with input as testing.command({"flags": ["publishes"]})
}

test_allows_other_commands if {
	rule.ask == set() with input as testing.command({"name": "npm", "subcommand": "pack"})
}

test_allows_dry_runs if {
	rule.ask == set() with input as testing.command({"flags": ["dry_run", "publishes"]})
}
