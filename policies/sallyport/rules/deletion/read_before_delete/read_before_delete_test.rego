package sallyport.rules.deletion.read_before_delete_test

import data.sallyport.rules.deletion.read_before_delete as rule
import data.sallyport.testing

_delete(fields) := testing.path(object.union(
	{"access": "delete", "path": "/ws/d", "unread": {"count": 2, "examples": ["a", "b"]}},
	fields,
))

test_denies_unread_file if {
	finding := {"path": 0, "msg": "/ws/d must be read before it is deleted"}
	rule.deny == {finding} with input as _delete({})
	rule.deny == {finding} with input as _delete({"unread": {"count": 1, "examples": []}})
}

test_denies_unread_tree if {
	msg := "/ws/d holds 2 unread file(s), for example a, b; read them before you delete them"
	rule.deny == {{"path": 0, "msg": msg}} with input as _delete({"recursive": true})
	rule.deny == {{"path": 0, "msg": msg}} with input as _delete({"glob": true, "zone": "context"})
}

test_denies_a_tree_that_is_too_large_to_look_at if {
	doc := _delete({"recursive": true, "unread": {"count": 1, "examples": []}})
	rule.deny == {{"path": 0, "msg": "/ws/d holds too many files to look at all of them; delete its parts one by one"}} with input as doc
}

test_denies_what_a_file_tool_has_not_read if {
	doc := testing.request([], [{"source": "tool", "command": -1, "access": "delete", "path": "/ws/f", "unread": {"count": 1, "examples": ["f"]}}])
	rule.deny == {{"path": 0, "msg": "/ws/f must be read before it is deleted"}} with input as doc
}

test_allows_what_was_read if {
	rule.deny == set() with input as _delete({"unread": {"count": 0, "examples": []}})
}

test_allows_generated_and_temporary_files if {
	rule.deny == set() with input as _delete({"generated": true})
	rule.deny == set() with input as _delete({"zone": "temporary"})
}

test_allows_moves if {
	rule.deny == set() with input as testing.request(
		[{"flags": ["moves"]}],
		[{"access": "delete", "unread": {"count": 1, "examples": ["a"]}}],
	)
}
