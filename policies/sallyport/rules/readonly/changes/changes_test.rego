package sallyport.rules.readonly.changes_test

import data.sallyport.rules.readonly.changes as rule
import data.sallyport.testing

test_denies_writes_and_deletes if {
	every access in ["write", "delete"] {
		expected := {{"path": 0, "msg": $"this session is read-only: {access} of a"}}
		rule.deny == expected with input as testing.path({"raw": "a", "access": access})
	}
}

test_denies_other_effects if {
	every effect in ["network", "privilege", "system"] {
		expected := {{"command": 0, "msg": $"this session is read-only: x has the effect {effect}"}}
		rule.deny == expected with input as testing.command({"program": "x", "effects": [effect]})
	}
}

test_denies_a_change_without_a_place if {
	expected := {{"command": 0, "msg": "this session is read-only: git has the effect write"}}
	rule.deny == expected with input as testing.command({"program": "git", "effects": ["read", "write"]})
	deleted := {{"command": 0, "msg": "this session is read-only: docker has the effect delete"}}
	rule.deny == deleted with input as testing.command({"program": "docker", "effects": ["delete"]})
}

test_reports_a_change_with_a_place_once if {
	doc := testing.request([{"effects": ["write"], "paths": [0]}], [{"raw": "a", "access": "write"}])
	count(rule.deny) == 1 with input as doc
}

test_allows_reading if {
	rule.deny == set() with input as testing.path({"access": "read"})
}

test_allows_writing_to_nowhere if {
	every label in ["null_device", "std_device"] {
		doc := testing.request([{"effects": ["write"], "paths": [0]}], [{"access": "write", "labels": [label]}])
		rule.deny == set() with input as doc
	}
}
