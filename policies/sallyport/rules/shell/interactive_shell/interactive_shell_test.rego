package sallyport.rules.shell.interactive_shell_test

import data.sallyport.rules.shell.interactive_shell as rule
import data.sallyport.testing

_session := {"code": {"language": "bash", "from": "session", "origin": "", "resolved": false}}

test_asks if {
	rule.ask == {{"command": 0}} with input as testing.command(_session)
	rule.deny == set() with input as testing.command(_session)
}

test_denies_elevated if {
	doc := testing.command(object.union(_session, {"elevated": true}))
	rule.deny == {{"command": 0}} with input as doc
	rule.ask == set() with input as doc
}

test_allows_interpreter_with_program if {
	code := {"language": "bash", "from": "argument", "origin": "text", "resolved": true}
	rule.ask == set() with input as testing.command({"code": code})
}

test_allows_in_script_files if {
	rule.ask == set() with input as testing.command(object.union(_session, {"script": "./x.sh"}))
}
