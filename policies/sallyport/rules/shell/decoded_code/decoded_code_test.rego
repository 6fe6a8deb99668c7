package sallyport.rules.shell.decoded_code_test

import data.sallyport.rules.shell.decoded_code as rule
import data.sallyport.testing

test_denies_code_that_was_encoded if {
	rule.deny == {{"command": 0}} with input as testing.command({"code": {
		"language": "sh",
		"from": "stdin",
		"origin": "decoded",
	}})
}

test_allows_decoding if {
	rule.deny == set() with input as testing.command({"flags": ["decodes"]})
}
