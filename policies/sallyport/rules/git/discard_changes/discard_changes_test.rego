package sallyport.rules.git.discard_changes_test

import data.sallyport.rules.git.discard_changes as rule
import data.sallyport.testing

test_denies if {
	rule.deny == {{"command": 0}} with input as testing.command({"flags": ["discards_changes"]})
}

test_allows_other_git_commands if {
	rule.deny == set() with input as testing.command({"name": "git", "subcommand": "reset"})
}
