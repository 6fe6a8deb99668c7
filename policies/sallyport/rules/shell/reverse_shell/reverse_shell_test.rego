package sallyport.rules.shell.reverse_shell_test

import data.sallyport.rules.shell.reverse_shell as rule
import data.sallyport.testing

_piped(code) := testing.request([{"code": code}, {"effects": ["network"], "inputs": [0]}], [])

test_denies_socket_shell if {
	rule.deny == {{"command": 0}} with input as testing.command({"flags": ["socket", "socket_shell"]})
}

test_denies_shell_that_answers_a_connection if {
	every language in ["bash", "sh"] {
		every from in ["session", "stdin"] {
			rule.deny == {{"command": 0}} with input as _piped(_code(language, from, false))
		}
	}
}

_code(language, from, resolved) := {
	"language": language,
	"from": from,
	"origin": "dynamic",
	"resolved": resolved,
}

test_allows_other_code_into_the_network if {
	rule.deny == set() with input as _piped(_code("python", "stdin", false))
	rule.deny == set() with input as _piped(_code("bash", "argument", false))
	rule.deny == set() with input as _piped(_code("bash", "stdin", true))
}

test_allows_known_script_into_the_network if {
	rule.deny == set() with input as _piped({
		"language": "sh",
		"from": "argument",
		"origin": "text",
		"resolved": true,
	})
}

test_allows_sockets if {
	rule.deny == set() with input as testing.command({"flags": ["socket"], "effects": ["network"]})
}
