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

_waiting(language, carrier) := testing.command({"via": [carrier], "code": object.union(_session, {"language": language})})

test_denies_each_waiting_shell_in_each_carrier if {
	every language in ["bash", "sh"] {
		every carrier in ["awk", "find -exec", "find -execdir", "find -ok", "xargs", "parallel", "perl -e", "python -c", "ruby -e", "node -e", "php -r", "lua -e"] {
			rule.deny == {{"command": 0}} with input as _waiting(language, carrier)
		}
	}
}

test_allows_other_interpreters_in_a_carrier if {
	rule.deny == set() with input as _waiting("python", "find -exec")
}

test_allows_shells_that_run_a_text_in_a_carrier if {
	doc := testing.command({"via": ["find -exec"], "code": object.union(_session, {"from": "argument"})})
	rule.deny == set() with input as doc
}
