package sallyport.rules.shell.unparseable_test

import data.sallyport.rules.shell.unparseable as rule
import data.sallyport.testing

_broken(kind) := object.union(testing.command({}), {"shell": {"parsed": false, "error": kind}})

test_denies_with_the_reason if {
	rule.deny == {{"msg": "the text is not a complete bash program"}} with input as _broken("syntax")
	rule.deny == {{"msg": "the text holds a NUL byte, which bash would drop"}} with input as _broken("nul_byte")
}

test_denies_a_kind_it_does_not_know if {
	rule.deny == {{"msg": "the text cannot be read"}} with input as _broken("new_kind")
}

test_allows_what_was_read if {
	rule.deny == set() with input as testing.command({})
}

test_denies_each_kind_with_a_reason_of_its_own if {
	kinds := ["empty", "too_long", "nul_byte", "carriage_return", "invalid_utf8", "control_character", "nesting", "syntax"]
	reasons := {msg |
		some kind in kinds
		found := rule.deny with input as _broken(kind)
		some {"msg": msg} in found
		msg != "the text cannot be read"
	}
	count(reasons) == count(kinds)
}
