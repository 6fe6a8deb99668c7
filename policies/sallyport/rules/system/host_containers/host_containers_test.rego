package sallyport.rules.system.host_containers_test

import data.sallyport.rules.system.host_containers as rule
import data.sallyport.testing

test_denies_the_host_in_a_container if {
	rule.deny == {{"command": 0}} with input as testing.command({"flags": ["privileged_container"]})
	doc := testing.command({"flags": ["host_mount", "host_namespace"]})
	rule.deny == {{"command": 0}} with input as doc
	rule.ask == set() with input as doc
}

test_asks_for_shared_namespaces if {
	doc := testing.command({"flags": ["host_namespace"]})
	rule.ask == {{"command": 0}} with input as doc
	rule.deny == set() with input as doc
}

test_allows_plain_containers if {
	rule.deny == set() with input as testing.command({"name": "docker"})
	rule.ask == set() with input as testing.command({"name": "docker"})
}
