package sallyport.rules.system.authorized_keys_test

import data.sallyport.rules.system.authorized_keys as rule
import data.sallyport.testing

_keys(access) := testing.path({"path": "/k", "access": access, "labels": ["authorized_keys"]})

test_denies_changes if {
	rule.deny == {{"path": 0, "msg": "/k lists the keys that may log in"}} with input as _keys("write")
	rule.deny == {{"path": 0, "msg": "/k lists the keys that may log in"}} with input as _keys("delete")
}

test_denies_the_tool_for_it if {
	rule.deny == {{"command": 0}} with input as testing.command({"name": "ssh-copy-id"})
}

test_allows_reading if {
	rule.deny == set() with input as _keys("read")
}
