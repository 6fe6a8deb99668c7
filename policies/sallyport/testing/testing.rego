# METADATA
# title: Inputs for tests of rules
# description: >-
#   Builds small, complete inputs: fields that a test leaves out have the value of a harmless
#   request. An input with an unknown field is not built, so that a test with a misspelt key fails.
#   For tests only; no rule may import it.
package sallyport.testing

# One command that touches nothing.
command(fields) := request([fields], [])

# One command that touches one place.
path(fields) := request([{"paths": [0]}], [fields])

# Commands and paths, in that order; paths belong to command 0 unless they say otherwise.
request(commands, paths) := {
	"version": 1,
	"request": {
		"id": "test",
		"time": "2025-01-01T00:00:00Z",
		"tool": "execute_command",
		"command": "",
		"work_dir": "/ws",
		"work_dir_state": "dir",
		"work_dir_allowed": true,
		"timeout_seconds": 60,
		"background": false,
		"stdin": false,
		"parent": "",
		"trial": false,
		"env": [],
	},
	"subject": {"agent": "a", "session": "s", "user": "u", "client": {"name": "", "version": ""}},
	"runner": {
		"name": "local",
		"isolation": "none",
		"network": "host",
		"elevated": false,
		"programs": "unseen",
		"confinement": {"write": "open", "read": "open", "connect": "open"},
		"place": {
			"seen": false,
			"runtime": "",
			"image": "",
			"digest": "",
			"node": "",
			"cpu": 0,
			"memory": 0,
			"storage": 0,
		},
	},
	"shell": {"parsed": true, "error": "", "certainty": "exact", "budget": "", "legacy": []},
	"commands": [object.union(_command, fields) | some fields in commands],
	"paths": [object.union(_path, fields) | some fields in paths],
	"git": {"top": "", "branch": "", "upstream": "", "remotes": []},
	"session": session([]),
} if {
	every fields in commands {
		_known("command", fields, _command)
	}
	every fields in paths {
		_known("path", fields, _path)
	}
}

# The same where programs are judged at their start and the trials of the environment failed.
judged(doc) := object.union(doc, {"runner": {
	"programs": "judged",
	"confinement": {"write": "holds", "read": "holds", "connect": "holds"},
}})

# A session with these requests before the present one, the newest last: an input with it is
# object.union(testing.command({…}), {"session": testing.session([{"effect": "deny"}])}).
session(events) := {
	"counts": {
		"allow": _events(recent, "effect", "allow"),
		"deny": _events(recent, "effect", "deny"),
		"ask": _events(recent, "effect", "ask"),
		"pending": _events(recent, "effect", "pending"),
		"running": _events(recent, "state", "running"),
	},
	"first": "2025-01-01T00:00:00Z",
	"last": "2025-01-01T00:00:00Z",
	"labels": sort({label | some event in recent; event.state != "refused"; some label in event.labels}),
	"operator_labels": sort({label |
		some event in recent
		event.state != "refused"
		some label in event.operator_labels
	}),
	"dropped": {"count": 0, "age_seconds": 0},
	"recent": recent,
	"approved": [],
} if {
	every fields in events {
		_known("event", fields, _event)
	}
	recent := [object.union(_event, fields) | some fields in events]
}

_events(events, field, value) := count([1 | some event in events; event[field] == value])

_known(kind, fields, complete) if {
	unknown := object.keys(fields) - object.keys(complete)
	_told(kind, unknown)
	unknown == set()
}

# Printed where opa prints, and true in any case.
_told(_, unknown) if unknown == set()

_told(kind, unknown) if {
	unknown != set()
	print($"a {kind} has no {concat(", ", unknown)}")
}

_command := {
	"name": "prog",
	"program": "prog",
	"subcommand": "",
	"known": true,
	"argv": ["prog"],
	"env": [],
	"certainty": "exact",
	"via": [],
	"script": "",
	"elevated": false,
	"background": false,
	"pipeline": {"id": 0, "index": 0, "length": 1},
	"inputs": [],
	"effects": [],
	"flags": [],
	"code": {"language": "", "from": "", "origin": "", "resolved": false},
	"hosts": [],
	"targets": [],
	"kube": [],
	"options": [],
	"operands": [],
	"packages": [],
	"variables": [],
	"matches": {"allow": false, "deny": [], "exempt": []},
	"dir": "/ws",
	"paths": [],
	"span": {"start": 0, "end": 4},
}

_path := {
	"raw": "x",
	"path": "/ws/x",
	"real": "/ws/x",
	"access": "read",
	"source": "argument",
	"recursive": false,
	"glob": false,
	"certainty": "exact",
	"exists": true,
	"type": "file",
	"zone": "workspace",
	"permission": "write",
	"labels": [],
	"operator_labels": [],
	"seen": "none",
	"obeyed_by": [],
	"unread": {"count": 0, "examples": []},
	"git": {"state": "none", "count": 0, "examples": []},
	"generated": false,
	"size": 0,
	"command": 0,
}

_event := {
	"id": "earlier",
	"time": "2025-01-01T00:00:00Z",
	"age_seconds": 0,
	"tool": "execute_command",
	"effect": "allow",
	"state": "ended",
	"approval": "",
	"exit": 0,
	"certainty": "exact",
	"effects": [],
	"hosts": [],
	"labels": [],
	"operator_labels": [],
	"commands": ["prog"],
	"cut": false,
}
