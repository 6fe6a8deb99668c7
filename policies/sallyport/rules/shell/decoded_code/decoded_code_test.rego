package sallyport.rules.shell.decoded_code_test

import data.sallyport.rules.shell.decoded_code as rule
import data.sallyport.testing

_sh(resolved) := testing.command({"code": {
	"language": "sh",
	"from": "stdin",
	"origin": "decoded",
	"resolved": resolved,
}})

test_denies_what_could_not_be_followed if {
	rule.deny == {{"command": 0}} with input as _sh(false)
	rule.ask == set() with input as _sh(false)
}

test_asks_for_the_rest if {
	rule.deny == set() with input as _sh(true)
	rule.ask == {{"command": 0}} with input as _sh(true)
}

test_allows_decoding if {
	rule.deny == set() with input as testing.command({"flags": ["decodes"]})
	rule.ask == set() with input as testing.command({"flags": ["decodes"]})
}
