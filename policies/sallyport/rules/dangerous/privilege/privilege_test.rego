package sallyport.rules.dangerous.privilege_test

import data.sallyport.rules.dangerous.privilege as rule
import data.sallyport.testing

_sudo := testing.request([{"effects": ["privilege"]}, {"elevated": true}], [])

test_denies_elevating_commands if {
	rule.deny == {{"command": 0}} with input as _sudo
}

test_denies_elevated_command_without_its_carrier if {
	rule.deny == {{"command": 0}} with input as testing.command({"elevated": true})
}

test_allows_where_elevation_stays_inside if {
	rule.deny == set() with input as object.union(_sudo, {"runner": {"elevated": true}})
	carried := testing.command({"elevated": true})
	rule.deny == set() with input as object.union(carried, {"runner": {"elevated": true}})
}

test_allows_ordinary_commands if {
	rule.deny == set() with input as testing.command({"effects": ["read"]})
}
