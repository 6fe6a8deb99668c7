package sallyport.rules.git.bypass_hooks_test

import data.sallyport.rules.git.bypass_hooks as rule
import data.sallyport.testing

test_warns if {
	rule.warn == {{"command": 0}} with input as testing.command({"flags": ["bypasses_hooks"]})
}

test_allows_plain_commit if {
	rule.warn == set() with input as testing.command({"name": "git", "subcommand": "commit"})
}
