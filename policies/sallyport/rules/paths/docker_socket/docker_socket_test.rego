package sallyport.rules.paths.docker_socket_test

import data.sallyport.rules.paths.docker_socket as rule
import data.sallyport.testing

_socket(labels) := testing.path({"labels": array.concat(["docker_socket"], labels)})

test_denies_talking_to_it if {
	rule.deny == {{"path": 0}} with input as _socket([])
}

test_allows_looking_at_it if {
	rule.deny == set() with input as _socket(["metadata"])
}

test_allows_other_files if {
	rule.deny == set() with input as testing.path({})
}
