package sallyport.rules.shell.unresolved_command_test

import data.sallyport.rules.shell.unresolved_command as rule
import data.sallyport.testing

_unknown := {"name": "", "certainty": "unknown"}

test_asks if {
	rule.ask == {{"command": 0}} with input as testing.command(_unknown)
	rule.deny == set() with input as testing.command(_unknown)
}

# A program of a name on purpose unknown is asked about, also where its start is judged.
test_masked_names_are_not_judged_later if {
	later := testing.judged(testing.command(_unknown))
	rule.ask == set() with input as later
	masked := testing.judged(testing.command(object.union(_unknown, {"flags": ["masked"]})))
	rule.ask == {{"command": 0}} with input as masked
}

test_denies_elevated if {
	doc := testing.command(object.union(_unknown, {"elevated": true}))
	rule.deny == {{"command": 0}} with input as doc
	rule.ask == set() with input as doc
}

test_allows_dynamic_arguments if {
	rule.ask == set() with input as testing.command({"certainty": "partial"})
}

test_allows_in_script_files if {
	rule.ask == set() with input as testing.command(object.union(_unknown, {"script": "./x.sh"}))
	rule.ask == set() with input as testing.command({"flags": ["unresolved_verb"], "script": "./x.sh"})
}

test_asks_where_it_may_download_for_a_shell if {
	loads := {"certainty": "unknown", "known": false, "hosts": ["example.com"]}
	runs := {"certainty": "unknown", "inputs": [0]}
	rule.ask == {{"command": 1}} with input as testing.judged(testing.request([loads, runs], []))
	quiet := {"certainty": "unknown"}
	rule.ask == set() with input as testing.judged(testing.request([quiet, runs], []))
}
