package custom.packages.containers_test

import data.custom.packages.containers as rule
import data.sallyport.testing

_npm(via) := testing.command({"name": "npm", "flags": ["package_install"], "via": via})

test_here if rule.deny == {{"command": 0}} with input as _npm([])

test_through_another_shell if rule.deny == {{"command": 0}} with input as _npm(["sudo", "bash -c"])

test_in_a_container if rule.deny == set() with input as _npm(["sudo", "docker run"])

test_where_everything_is_in_one if {
	request := object.union(_npm([]), {"runner": {"isolation": "container"}})
	rule.deny == set() with input as request
}

test_no_installation if rule.deny == set() with input as testing.command({"name": "npm"})
