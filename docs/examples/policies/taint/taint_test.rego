package custom.sessions.taint_test

import data.custom.sessions.taint as rule
import data.sallyport.testing

_to(hosts, events) := object.union(
	testing.command({
		"effects": ["network"],
		"targets": [{"kind": "host", "host": host, "certainty": "exact"} | some host in hosts],
	}),
	{"session": testing.session(events)},
)

_secret := {"labels": ["env_file"], "effects": ["read"]}

test_before if rule.deny == set() with input as _to(["example.com"], [])

test_after if count(rule.deny) == 1 with input as _to(["example.com"], [_secret, {}])

test_unknown_target if count(rule.deny) == 1 with input as _to([], [_secret])

test_one_target_outside if {
	count(rule.deny) == 1 with input as _to(["a.corp.example.com", "example.com"], [_secret])
}

test_inside if rule.deny == set() with input as _to(["a.corp.example.com"], [_secret])

test_refused if {
	rule.deny == set() with input as _to(["example.com"], [object.union(_secret, {"state": "refused"})])
}

test_unknown_read if {
	read := {"effects": ["read"], "certainty": "partial"}
	count(rule.ask) == 1 with input as _to(["example.com"], [read])
	rule.ask == set() with input as _to(["example.com"], [object.union(read, {"state": "refused"})])
	rule.ask == set() with input as _to(["example.com"], [object.union(read, {"effects": ["write"]})])
}

test_operator_label_before if {
	read := {"operator_labels": ["customer"], "effects": ["read"]}
	count(rule.deny) == 1 with input as _to(["example.com"], [read])
	rule.deny == set() with input as _to(["a.corp.example.com"], [read])
	rule.deny == set() with input as _to(["example.com"], [object.union(read, {"operator_labels": ["draft"]})])
}
