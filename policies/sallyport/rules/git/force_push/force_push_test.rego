package sallyport.rules.git.force_push_test

import data.sallyport.rules.git.force_push as rule
import data.sallyport.testing

test_denies if {
	rule.deny == {{"command": 0}} with input as testing.command({"flags": ["force_push"]})
}

test_allows_dry_run_and_plain_push if {
	rule.deny == set() with input as testing.command({"flags": ["dry_run", "force_push"]})
	rule.deny == set() with input as testing.command({"effects": ["network"]})
}
