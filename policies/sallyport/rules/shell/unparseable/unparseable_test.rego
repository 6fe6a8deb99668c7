package sallyport.rules.shell.unparseable_test

import data.sallyport.rules.shell.unparseable as rule
import data.sallyport.testing

_broken(kind) := object.union(testing.command({}), {"shell": {"parsed": false, "error": kind}})

test_denies_with_the_reason if {
	doc := _broken("syntax")
	rule.deny == {{"msg": "the text is not a complete bash program"}} with input as doc
	rule.ask == set() with input as object.union(doc, {"shell": {"budget": "", "certainty": "unknown"}})
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

_text(certainty, budget, commands) := object.union(
	testing.request(commands, []),
	{"shell": {"parsed": true, "error": "", "certainty": certainty, "budget": budget, "legacy": []}},
)

test_asks_for_a_part_that_is_not_understood if {
	count(rule.ask) == 1 with input as _text("unknown", "", [{"certainty": "exact"}, {"certainty": "partial"}])
}

test_leaves_an_unknown_command_to_its_own_rule if {
	rule.ask == set() with input as _text("unknown", "", [{"certainty": "unknown"}])
}

test_leaves_a_spent_budget_to_its_own_rule if {
	rule.ask == set() with input as _text("unknown", "steps", [{"certainty": "exact"}])
}

test_asks_for_nothing_where_all_is_understood[certainty] if {
	some certainty in ["exact", "partial"]
	rule.ask == set() with input as _text(certainty, "", [{"certainty": certainty}])
}

test_leaves_a_part_that_is_not_understood_to_its_programs if {
	doc := _text("unknown", "", [{"certainty": "exact"}])
	rule.ask == set() with input as testing.judged(doc)
	rule.deny == set() with input as testing.judged(doc)
}

test_asks_where_nothing_confines if {
	open := {"runner": {"confinement": {"write": "untried"}}}
	doc := object.union(testing.judged(_text("unknown", "", [{"certainty": "exact"}])), open)
	count(rule.ask) == 1 with input as doc
}

test_denies_an_unreadable_text_in_any_case if {
	count(rule.deny) == 1 with input as testing.judged(_broken("syntax"))
}
