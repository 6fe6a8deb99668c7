package sallyport.rules.system.history_tampering_test

import data.sallyport.rules.system.history_tampering as rule
import data.sallyport.testing

_history(access) := testing.path({"path": "/h", "access": access, "labels": ["history_file"]})

test_denies_commands if {
	rule.deny == {{"command": 0}} with input as testing.command({"flags": ["history"]})
}

test_denies_changes_of_the_file if {
	rule.deny == {{"path": 0, "msg": "/h records earlier commands"}} with input as _history("write")
	rule.deny == {{"path": 0, "msg": "/h records earlier commands"}} with input as _history("delete")
}

test_allows_reading if {
	rule.deny == set() with input as _history("read")
}
