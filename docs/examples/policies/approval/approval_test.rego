package custom.approval.production_test

import data.custom.approval.production as rule
import data.sallyport.testing

_from(client, command) := object.union(testing.command(command), {"subject": {"client": {"name": client}}})

_deploy := {"name": "deploy", "argv": ["deploy", "production"]}

test_an_agent_asks if {
	count(rule.ask) == 1 with input as _from("editor", _deploy)
	count(rule.deny) == 0 with input as _from("editor", _deploy)
}

test_a_terminal_does_not if {
	count(rule.ask) == 0 with input as _from("sallyport", _deploy)
	count(rule.deny) == 1 with input as _from("sallyport", _deploy)
}

test_what_is_not_known_counts if {
	count(rule.ask) == 1 with input as _from("editor", {"name": "deploy", "argv": ["deploy", "$TARGET"], "certainty": "partial"})
}

test_elsewhere if {
	count(rule.ask | rule.deny) == 0 with input as _from("editor", {"name": "deploy", "argv": ["deploy", "staging"]})
	count(rule.ask | rule.deny) == 0 with input as _from("editor", {"name": "echo", "argv": ["echo", "production"]})
}
