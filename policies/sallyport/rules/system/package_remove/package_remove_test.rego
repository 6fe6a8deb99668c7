package sallyport.rules.system.package_remove_test

import data.sallyport.rules.system.package_remove as rule
import data.sallyport.testing

_remove(name) := testing.command({"name": name, "flags": ["package_remove"]})

test_asks_for_system_packages if {
	rule.ask == {{"command": 0}} with input as _remove("apt-get")
}

test_allows_project_packages if {
	rule.ask == set() with input as _remove("npm")
}

test_allows_installing if {
	rule.ask == set() with input as testing.command({"name": "apt-get", "flags": ["package_install"]})
}
