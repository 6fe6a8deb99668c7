package sallyport.rules.system.package_sources_test

import data.sallyport.rules.system.package_sources as rule
import data.sallyport.testing

_msg := "/h/pip.conf says where packages come from"

_written(zone, labels) := testing.path({
	"path": "/h/pip.conf", "access": "write", "zone": zone, "labels": array.concat(["package_source"], labels),
})

test_asks_for_another_source if {
	rule.ask == {{"command": 0}} with input as testing.command({"name": "pip", "flags": ["redirects_source"]})
	rule.ask == set() with input as testing.command({"name": "pip", "flags": ["package_install"]})
}

test_asks_for_a_source_of_all_projects if {
	rule.ask == {{"path": 0, "msg": _msg}} with input as _written("home", [])
	rule.ask == {{"path": 0, "msg": _msg}} with input as _written("system", [])
	rule.warn == set() with input as _written("home", [])
}

test_warns_of_a_source_of_one_project if {
	rule.ask == set() with input as _written("workspace", [])
	rule.warn == {{"path": 0, "msg": _msg}} with input as _written("workspace", [])
}

test_allows_modes_and_what_git_brings if {
	rule.ask == set() with input as _written("home", ["metadata"])
	rule.ask == set() with input as testing.request(
		[{"name": "git", "paths": [0]}],
		[{"path": "/h/.npmrc", "access": "write", "zone": "home", "labels": ["package_source"], "command": 0}],
	)
	rule.ask == set() with input as testing.path({"access": "read", "zone": "home", "labels": ["package_source"]})
}
