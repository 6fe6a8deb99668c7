package sallyport.rules.system.services_test

import data.sallyport.rules.system.services as rule
import data.sallyport.testing

test_asks if {
	doc := testing.command({"flags": ["service_control"]})
	rule.ask == {{"command": 0}} with input as doc
	rule.warn == set() with input as doc
}

test_allows_other_commands if {
	rule.ask == set() with input as testing.command({"name": "systemctl", "subcommand": "status"})
}

test_warns_of_a_start if {
	every verb in ["condrestart", "force-reload", "reload", "restart", "start", "try-restart"] {
		doc := testing.command({"flags": ["service_control"], "argv": ["service", "nginx", verb]})
		rule.warn == {{"command": 0}} with input as doc
		rule.ask == set() with input as doc
	}
}
