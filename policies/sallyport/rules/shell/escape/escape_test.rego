package sallyport.rules.shell.escape_test

import data.sallyport.rules.shell.escape as rule
import data.sallyport.testing

_session := {"language": "sh", "from": "session", "origin": "", "resolved": false}

test_denies_escape if {
	rule.deny == {{"command": 0}} with input as testing.command({"flags": ["escape"]})
}

test_denies_waiting_shell_in_a_carrier if {
	rule.deny == {{"command": 0}} with input as testing.command({"via": ["find -exec"], "code": _session})
}

test_denies_once if {
	rule.deny == {{"command": 0}} with input as testing.command({
		"flags": ["escape"],
		"via": ["find -exec"],
		"code": _session,
	})
}

test_allows_waiting_shell_in_a_wrapper if {
	rule.deny == set() with input as testing.command({"via": ["nice"], "code": _session})
}

test_allows_carried_programs if {
	rule.deny == set() with input as testing.command({"via": ["find -exec"]})
}
