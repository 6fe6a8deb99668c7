package sallyport.rules.shell.dynamic_code_test

import data.sallyport.rules.shell.dynamic_code as rule
import data.sallyport.testing

_eval(fields) := testing.command(object.union({"name": "eval", "flags": ["dynamic_code"]}, fields))

_hooked(program) := testing.request(
	[
		{"name": "eval", "flags": ["dynamic_code"], "inputs": [1]},
		{"name": "conda", "program": program},
	],
	[],
)

test_asks_for_unknown_text if {
	rule.ask == {{"command": 0}} with input as _eval({})
}

test_asks_by_origin if {
	code := {"language": "bash", "from": "argument", "origin": "dynamic", "resolved": false}
	rule.ask == {{"command": 0}} with input as testing.command({"code": code})
}

test_denies_elevated if {
	rule.deny == {{"command": 0}} with input as _eval({"elevated": true})
	rule.ask == set() with input as _eval({"elevated": true})
}

test_allows_shell_hooks if {
	rule.ask == set() with input as _hooked("conda")
}

test_asks_for_a_program_that_borrows_the_name if {
	rule.ask == {{"command": 0}} with input as _hooked("./conda")
}

test_allows_in_script_files if {
	rule.ask == set() with input as _eval({"script": "./x.sh"})
}

test_allows_known_text if {
	code := {"language": "bash", "from": "argument", "origin": "text", "resolved": true}
	rule.ask == set() with input as testing.command({"code": code})
}

_starts(flags, fields) := testing.command(object.union({"name": "python3", "flags": flags}, fields))

test_asks_for_an_unknown_program_of_known_code if {
	rule.ask == {{"command": 0}} with input as _starts(["dynamic_program"], {})
	rule.deny == {{"command": 0}} with input as _starts(["dynamic_program"], {"elevated": true})
}

test_leaves_an_unknown_program_to_its_start if {
	rule.ask == set() with input as testing.judged(_starts(["dynamic_program"], {}))
}

test_asks_for_unknown_code_beside_an_unknown_program if {
	rule.ask == {{"command": 0}} with input as testing.judged(_starts(["dynamic_code"], {}))
	rule.ask == {{"command": 0}} with input as testing.judged(_starts(["dynamic_code", "dynamic_program"], {}))
	code := {"language": "python", "from": "stdin", "origin": "dynamic", "resolved": false}
	rule.ask == {{"command": 0}} with input as testing.judged(_starts(["dynamic_program"], {"code": code}))
}

test_leaves_unknown_text_of_a_shell_to_its_programs if {
	code := {"language": "sh", "from": "argument", "origin": "dynamic", "resolved": false}
	rule.ask == set() with input as testing.judged(_eval({"code": code}))
}

test_asks_for_generated_code_of_unread_languages_where_programs_are_judged if {
	code := {"language": "tcl", "from": "file", "origin": "generated", "resolved": false}
	rule.ask == {{"command": 0}} with input as testing.judged(testing.command({"code": code}))
}

test_asks_where_an_unknown_program_may_download_the_code if {
	code := {"language": "bash", "from": "stdin", "origin": "dynamic", "resolved": false}
	loads := {"certainty": "unknown", "known": false, "hosts": ["example.com"]}
	doc := testing.request([loads, {"code": code, "inputs": [0]}], [])
	rule.ask == {{"command": 1}} with input as testing.judged(doc)
}
