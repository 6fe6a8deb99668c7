package sallyport.rules.network.remote_exec_test

import data.sallyport.rules.network.remote_exec as rule
import data.sallyport.testing

_exec(name) := testing.command({"name": name, "flags": ["remote_exec"]})

test_asks_for_other_machines if {
	rule.ask == {{"command": 0}} with input as _exec("ssh")
	rule.warn == set() with input as _exec("ssh")
}

test_warns_of_local_containers if {
	rule.warn == {{"command": 0}} with input as _exec("docker")
	rule.ask == set() with input as _exec("docker")
}

test_allows_local_commands if {
	rule.ask == set() with input as testing.command({})
	rule.warn == set() with input as testing.command({})
}
