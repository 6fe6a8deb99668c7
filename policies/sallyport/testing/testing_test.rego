package sallyport.testing_test

import data.sallyport.testing

test_command_is_complete if {
	built := testing.command({"name": "rm", "argv": ["rm", "x"]})
	built.version == 1
	built.paths == []
	count(built.commands) == 1
	built.commands[0].name == "rm"
	built.commands[0].argv == ["rm", "x"]
	built.commands[0].certainty == "exact"
	built.commands[0].effects == []
	built.runner.isolation == "none"
}

test_path_belongs_to_a_command if {
	built := testing.path({"access": "delete"})
	built.paths[0].access == "delete"
	built.paths[0].zone == "workspace"
	built.paths[0].command == 0
	built.commands[0].paths == [0]
}

test_what_is_said_in_part_keeps_the_rest if {
	built := testing.command({"code": {"language": "python"}})
	built.commands[0].code == {"language": "python", "from": "", "origin": "", "resolved": false}
}

test_request_keeps_the_order if {
	built := testing.request([{"name": "a"}, {"name": "b"}], [{"raw": "x", "command": 1}, {"raw": "y"}])
	[c.name | some c in built.commands] == ["a", "b"]
	[[p.raw, p.command] | some p in built.paths] == [["x", 1], ["y", 0]]
}

test_misspelt_keys_are_not_built if {
	not testing.command({"nmae": "rm"})
	not testing.path({"zones": "home"})
	not testing.request([{"name": "a"}], [{"raw": "x"}, {"rwa": "y"}])
}

# A test that only excludes findings would pass without this.
test_nothing_holds_for_what_is_not_built if {
	not _finds_nothing({"nmae": "rm"})
	_finds_nothing({"name": "rm"})
}

_finds_nothing(fields) if {
	not input.commands[0].elevated with input as testing.command(fields)
}
