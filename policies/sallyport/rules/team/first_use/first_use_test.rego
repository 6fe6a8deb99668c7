package sallyport.rules.team.first_use_test

import data.sallyport.rules.team.first_use as rule
import data.sallyport.testing

_input(fields, approved) := object.union(
	testing.command(object.union({"program": "./x", "dir": "/ws"}, fields)),
	{"session": object.union(testing.session([]), {"approved": approved})},
)

_unknown := {{"command": 0, "msg": "./x is not a known command, and not approved"}}

_unread := {{"command": 0, "msg": "./x runs code that could not be looked through"}}

_code := {"code": {"language": "bash", "from": "argument", "origin": "dynamic", "resolved": false}}

_one(fields) := object.union({"program": "./x", "dir": "/ws", "unread": false}, fields)

test_asks_about_unknown_programs if {
	rule.ask == _unknown with input as _input({"known": false}, [])
}

test_asks_about_unread_code if {
	rule.ask == _unread with input as _input(_code, [])
}

test_remembers_programs if {
	rule.ask == set() with input as _input({"known": false}, [_one({})])
	rule.ask == set() with input as _input({"known": false}, [_one({"unread": true})])
	rule.ask == set() with input as _input({"known": false}, [_one({"dir": ""})])
	rule.ask == set() with input as _input(_code, [_one({"unread": true})])
}

test_remembers_no_others if {
	rule.ask == _unknown with input as _input({"known": false}, [_one({"program": "./y"})])
	rule.ask == _unknown with input as _input({"known": false}, [_one({"dir": "/other"})])
	rule.ask == _unread with input as _input(_code, [_one({})])
}

test_asks_without_a_memory if {
	rule.ask == _unknown with input as object.remove(_input({"known": false}, []), ["session"])
}

test_leaves_scripts_and_assignments if {
	rule.ask == set() with input as _input({"known": false, "script": "x.sh"}, [])
	rule.ask == set() with input as _input({"known": false, "argv": []}, [])
}

test_allows_known_commands_and_read_code if {
	code := {"language": "bash", "from": "argument", "origin": "text", "resolved": true}
	rule.ask == set() with input as _input({"effects": ["network"]}, [])
	rule.ask == set() with input as _input({"code": code}, [])
}
