package custom.packages.registries_test

import data.custom.packages.registries as rule
import data.sallyport.testing

_install(hosts) := testing.command({"name": "npm", "flags": ["package_install"], "hosts": hosts})

test_our_registry if rule.deny == set() with input as _install(["packages.example.com"])

test_none_named if rule.deny == set() with input as _install([])

test_another_registry if {
	some finding in rule.deny with input as _install(["packages.example.com", "npm.elsewhere.test"])
	finding.command == 0
}

test_no_installation if rule.deny == set() with input as testing.command({"name": "curl", "hosts": ["npm.elsewhere.test"]})

_variable(value) := testing.command({"name": "pip", "variables": [{"name": "PIP_INDEX_URL", "value": value, "certainty": "exact"}]})

test_variable if count(rule.deny) == 1 with input as _variable("https://pypi.elsewhere.test")

test_variable_of_ours if rule.deny == set() with input as _variable("https://packages.example.com")

test_setting if count(rule.deny) == 1 with input as testing.command({"name": "npm", "argv": ["npm", "config", "set", "registry", "x"]})
