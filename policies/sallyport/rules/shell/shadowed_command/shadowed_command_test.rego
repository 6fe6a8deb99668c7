package sallyport.rules.shell.shadowed_command_test

import data.sallyport.rules.shell.shadowed_command as rule
import data.sallyport.testing

test_asks if {
	rule.ask == {{"command": 0}} with input as testing.command({"flags": ["shadow"]})
}

test_allows_in_script_files if {
	rule.ask == set() with input as testing.command({"flags": ["shadow"], "script": "./x.sh"})
}

test_allows_functions_with_own_names if {
	rule.ask == set() with input as testing.command({})
}
