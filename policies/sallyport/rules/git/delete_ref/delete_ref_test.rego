package sallyport.rules.git.delete_ref_test

import data.sallyport.rules.git.delete_ref as rule
import data.sallyport.testing

test_asks if {
	rule.ask == {{"command": 0}} with input as testing.command({"flags": ["deletes_ref"]})
}

test_allows_other_git_commands if {
	rule.ask == set() with input as testing.command({"name": "git", "subcommand": "branch"})
}
