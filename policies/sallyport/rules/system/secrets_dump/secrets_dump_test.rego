package sallyport.rules.system.secrets_dump_test

import data.sallyport.rules.system.secrets_dump as rule
import data.sallyport.testing

test_asks_for_secrets if {
	doc := testing.command({"flags": ["dumps_env", "prints_secret"]})
	rule.ask == {{"command": 0}} with input as doc
	rule.warn == set() with input as doc
}

test_warns_of_the_environment if {
	doc := testing.command({"flags": ["dumps_env"]})
	rule.warn == {{"command": 0}} with input as doc
	rule.ask == set() with input as doc
}

test_allows_other_commands if {
	rule.ask == set() with input as testing.command({})
	rule.warn == set() with input as testing.command({})
}
