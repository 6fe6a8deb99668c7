package sallyport.rules.shell.network_code_test

import data.sallyport.rules.shell.network_code as rule
import data.sallyport.testing

_code(origin) := {"language": "sh", "from": "stdin", "origin": origin, "resolved": false}

test_denies_piped_download if {
	rule.deny == {{"command": 0}} with input as testing.command({"code": _code("network")})
}

test_denies_substituted_download if {
	rule.deny == {{"command": 0}} with input as testing.request(
		[{"flags": ["dynamic_code"], "inputs": [1]}, {"flags": ["downloads"]}],
		[],
	)
}

test_asks_for_downloaded_program if {
	doc := testing.request(
		[{"flags": ["runs_downloaded"], "code": _code("network"), "paths": [0]}],
		[{"access": "execute", "labels": ["downloaded"]}],
	)
	rule.ask == {{"command": 0}} with input as doc
	rule.deny == set() with input as doc
}

test_allows_what_tools_print_for_shells if {
	rule.deny == set() with input as testing.request(
		[{"name": "eval", "code": _code("network"), "inputs": [1]}, {"name": "pyenv", "program": "pyenv"}],
		[],
	)
}

test_allows_download_and_own_code if {
	rule.deny == set() with input as testing.request([{"flags": ["downloads"]}, {"code": _code("text")}], [])
}

test_denies_a_program_that_a_download_names if {
	doc := testing.request([{"flags": ["dynamic_program"], "inputs": [1]}, {"flags": ["downloads"]}], [])
	rule.deny == {{"command": 0}} with input as doc
}
