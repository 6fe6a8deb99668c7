package sallyport.rules.dangerous.move_to_null_test

import data.sallyport.rules.dangerous.move_to_null as rule
import data.sallyport.testing

_null(name, source) := testing.request([{"name": name}], [{
	"access": "write",
	"source": source,
	"labels": ["null_device"],
}])

test_denies_move if {
	rule.deny == {{"path": 0}} with input as _null("mv", "argument")
}

test_denies_link if {
	rule.deny == {{"path": 0}} with input as _null("ln", "argument")
	rule.deny == {{"path": 0}} with input as _null("link", "argument")
}

test_allows_silenced_move if {
	rule.deny == set() with input as _null("mv", "redirect")
}

test_allows_other_programs if {
	rule.deny == set() with input as _null("cat", "argument")
}
