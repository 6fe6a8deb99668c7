package sallyport.rules.system.confinement_test

import data.sallyport.rules.system.confinement as rule
import data.sallyport.testing

_holds := {"write": "holds", "read": "holds", "connect": "holds"}

_in(runner, open) := object.union(testing.command({}), {"runner": object.union(
	object.union(runner, {"confinement": _holds}),
	{"confinement": {trial: "open" | some trial in open}},
)})

test_denies_broken_environments if {
	every isolation in ["namespace", "container"] {
		every trial, msg in {
			"write": "from inside the environment, a file outside of the granted places can be written",
			"read": "from inside the environment, a hidden file of this machine can be read",
		} {
			rule.deny == {{"msg": msg}} with input as _in({"isolation": isolation}, [trial])
		}
	}
}

test_denies_network_where_there_is_none if {
	msg := "from inside the environment without a network, this machine can be reached"
	rule.deny == {{"msg": msg}} with input as _in({"isolation": "container", "network": "none"}, ["connect"])
	rule.deny == set() with input as _in({"isolation": "container", "network": "host"}, ["connect"])
}

test_denies_unseen_programs_where_they_must_be_judged if {
	msg := "the programs that commands start cannot be judged here, and the configuration requires it"
	rule.deny == {{"msg": msg}} with input as _in({"programs": "missing"}, [])
	every programs in ["judged", "unseen"] {
		rule.deny == set() with input as _in({"programs": programs}, [])
	}
}

test_allows_environments_that_hold if {
	rule.deny == set() with input as _in({"isolation": "container", "network": "none"}, [])
}

test_allows_environments_that_promise_nothing if {
	every isolation in ["none", "remote"] {
		runner := {"isolation": isolation, "network": "none"}
		rule.deny == set() with input as _in(runner, ["write", "read", "connect"])
	}
}
