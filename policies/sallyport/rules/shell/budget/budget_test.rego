package sallyport.rules.shell.budget_test

import data.sallyport.rules.shell.budget as rule
import data.sallyport.testing

test_denies_spent_budget if {
	rule.deny == {{"msg": "not all of the text was looked through: the limit of depth was reached"}} with input as object.union(
		testing.command({}),
		{"shell": {"budget": "depth"}},
	)
}

test_allows_the_rest if {
	rule.deny == set() with input as testing.command({})
}
