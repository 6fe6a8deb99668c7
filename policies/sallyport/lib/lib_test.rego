package sallyport.lib_test

import data.sallyport.lib
import data.sallyport.testing

_commands := testing.request(
	[
		{"name": "rm", "flags": ["force"], "effects": ["delete"]},
		{"name": "sh", "script": "x.sh", "elevated": true, "flags": ["force"]},
	],
	[
		{"access": "delete", "labels": ["root"], "zone": "system"},
		{"access": "write", "command": 1, "zone": "workspace"},
		{"access": "read", "zone": "workspace"},
		{"access": "execute", "command": 1, "zone": "outside", "recursive": true},
	],
)

test_commands_by_what_they_are if {
	lib.with_flag.force == {0, 1} with input as _commands
	lib.with_effect.delete == {0} with input as _commands
	lib.named.rm == {0} with input as _commands
	lib.in_text == {0} with input as _commands
	lib.elevated == {1} with input as _commands
}

test_paths_by_access_and_place if {
	lib.deletes == {0} with input as _commands
	lib.writes == {1} with input as _commands
	lib.reads == {2} with input as _commands
	lib.changes == {0, 1} with input as _commands
	lib.executes == {3} with input as _commands
	lib.recursive == {3} with input as _commands
	lib.targets[1] == {"execute": {3}, "write": {1}} with input as _commands
	lib.with_label.root == {0} with input as _commands
	lib.in_zone.workspace == {1, 2} with input as _commands
}

# The engine skips rules by these keys: a missing fact must have no key, and a present one must have one.
test_objects_have_keys_for_what_is_there_and_nothing_else if {
	lib.with_flag.force with input as _commands
	not lib.with_flag.recursive with input as _commands
	not lib.with_access.link with input as _commands
	lib.with_access.delete with input as _commands
}

test_nothing_is_there_without_commands if {
	lib.with_flag == {} with input as testing.request([], [])
	lib.changes == set() with input as testing.request([], [])
}

test_elevated_commands_of_an_elevated_environment_start_unseen if {
	doc := testing.judged(testing.command({"elevated": true}))
	lib.judged_later with input as doc
	not lib.judged_later with input as object.union(doc, {"runner": {"elevated": true}})
}
