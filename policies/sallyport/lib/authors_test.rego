package sallyport.lib_test

import data.sallyport.lib
import data.sallyport.testing

_pipe := testing.request(
	[
		{"name": "cat", "pipeline": {"id": 1, "index": 0, "length": 3}, "paths": [0]},
		{"name": "npm", "inputs": [0], "pipeline": {"id": 1, "index": 1, "length": 3}, "certainty": "partial"},
		{"name": "sh", "inputs": [0, 1], "pipeline": {"id": 1, "index": 2, "length": 3}},
		{"name": "npm", "pipeline": {"id": 2, "index": 0, "length": 1}},
	],
	[
		{"access": "read", "zone": "home"},
		{"access": "write", "zone": "workspace", "command": 3},
		{"access": "delete", "zone": "system", "command": 3},
	],
)

test_commands_by_name if {
	object.keys(lib.commands({"npm", "sh", "yarn"})) == {1, 2, 3} with input as _pipe
	lib.commands(["yarn"]) == {} with input as _pipe
	lib.commands({"cat"})[0].name == "cat" with input as _pipe
	lib.uncertain == {1} with input as _pipe
}

test_pipelines if {
	object.keys(lib.pipeline(1)) == {0, 1, 2} with input as _pipe
	object.keys(lib.pipeline(3)) == {3} with input as _pipe
	lib.upstream(2) == {0, 1} with input as _pipe
	lib.downstream(0) == {1, 2} with input as _pipe
	lib.downstream(3) == set() with input as _pipe
}

test_paths_by_access_and_zone if {
	object.keys(lib.paths({"write", "delete"})) == {1, 2} with input as _pipe
	object.keys(lib.paths_in({"write", "delete"}, {"system", "home"})) == {2} with input as _pipe
	lib.paths({"execute"}) == {} with input as _pipe
	object.keys(lib.paths_of(0)) == {0} with input as _pipe
	lib.paths_of(1) == {} with input as _pipe
}

test_options[words] if {
	some words, given in {
		"npm i": false,
		"npm --registry x i": true,
		"npm --registry=x i": true,
		"npm -r x": true,
		"npm --registry-mirror x": false,
		"npm -rx": false,
	}
	found := [1 | lib.has_option({"argv": split(words, " ")}, {"--registry", "-r"})]
	count(found) > 0 == given
}

test_values_of_options[words] if {
	some words, allowed in {
		"npm i": true,
		"npm --registry a i": true,
		"npm --registry=b i": true,
		"npm -r a --registry=b": true,
		"npm --registry c": false,
		"npm --registry": false,
		"npm --registry=": false,
		"npm --registry=c": false,
		"npm --registry=c a": false,
		"npm --registry a --registry=c": false,
		"npm --registry=a=c": false,
	}
	found := [1 | lib.option_only({"argv": split(words, " ")}, {"--registry", "-r"}, {"a", "b"})]
	count(found) > 0 == allowed
}

test_values_as_they_are_read[name] if {
	some name, test in {
		"attached": [[{"name": "-r", "value": "a", "certainty": "exact"}], {"a"}, true],
		"another": [[{"name": "-r", "value": "c", "certainty": "exact"}], {"c"}, false],
		"one of two": [[{"name": "-r", "value": "a", "certainty": "exact"}, {"name": "--registry", "value": "c", "certainty": "exact"}], {"a", "c"}, false],
		"not known": [[{"name": "-r", "value": "a", "certainty": "partial"}], {""}, false],
		"of another option": [[{"name": "-x", "value": "c", "certainty": "exact"}], set(), true],
		"none": [[], set(), true],
	}
	command := {"argv": ["npm"], "options": test[0]}
	lib.option_values(command, {"--registry", "-r"}) == test[1]
	found := [1 | lib.option_only(command, {"--registry", "-r"}, {"a", "b"})]
	count(found) > 0 == test[2]
}

test_domains[host] if {
	some host, inside in {"example.com": true, "a.b.example.com": true, "badexample.com": false, "example.com.evil.test": false, "": false}
	found := [1 | lib.within_domains(host, {"example.com", "example.org"})]
	count(found) > 0 == inside
}

test_within[name] if {
	some name, test in {
		"itself": [{"real": "/ws/src"}, true],
		"below": [{"real": "/ws/src/a/b"}, true],
		"beside": [{"real": "/ws/srcs/a"}, false],
		"above": [{"real": "/ws"}, false],
		"a link out": [{"path": "/ws/src/link", "real": "/etc/passwd"}, false],
		"a link in": [{"path": "/ws/link", "real": "/ws/src/x"}, true],
		"not wholly known": [{"real": "/ws/src/a", "certainty": "partial"}, false],
		"not known": [{"real": "", "certainty": "unknown"}, false],
	}
	path := testing.path(test[0]).paths[0]
	found := [1 | lib.within(path, "/ws/src")]
	in_workspace := [1 | lib.within_workspace(path, "src")] with data.sallyport.config.workspace as "/ws"
	count(found) > 0 == test[1]
	found == in_workspace
}

test_nothing_lies_within_a_workspace_that_is_not_known if {
	not lib.within_workspace(testing.path({"real": "/src"}).paths[0], "src") with data.sallyport.config.workspace as ""
}

test_size if {
	lib.size({"a", "b"}) == 2
	lib.size([]) == 0
}
