package sallyport.rules.git.rewrite_history_test

import data.sallyport.rules.git.rewrite_history as rule
import data.sallyport.testing

test_denies if {
	rule.deny == {{"command": 0}} with input as testing.command({"flags": ["rewrites_history"]})
}

test_allows_other_git_commands if {
	rule.deny == set() with input as testing.command({"name": "git", "subcommand": "reflog"})
}
