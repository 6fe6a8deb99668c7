package sallyport.rules.git.remove_untracked_test

import data.sallyport.rules.git.remove_untracked as rule
import data.sallyport.testing

test_denies if {
	rule.deny == {{"command": 0}} with input as testing.command({"flags": ["force", "removes_untracked"]})
}

test_allows_dry_run if {
	rule.deny == set() with input as testing.command({"flags": ["dry_run", "removes_untracked"]})
}
