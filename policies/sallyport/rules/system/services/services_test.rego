package sallyport.rules.system.services_test

import data.sallyport.rules.system.services as rule
import data.sallyport.testing

test_asks if {
	doc := testing.command({"flags": ["service_control"]})
	rule.ask == {{"command": 0}} with input as doc
	rule.warn == set() with input as doc
}

test_allows_other_commands if {
	rule.ask == set() with input as testing.command({"name": "systemctl", "subcommand": "status"})
}

test_warns_of_a_start if {
	every verb in ["condrestart", "force-reload", "reload", "restart", "start", "try-restart"] {
		doc := testing.command({"flags": ["service_control"], "argv": ["service", "nginx", verb]})
		rule.warn == {{"command": 0}} with input as doc
		rule.ask == set() with input as doc
	}
}

_words(argv, flags) := {"name": argv[0], "argv": argv, "flags": flags}

_stopped := _words(["systemctl", "stop", "nginx"], ["service_control"])

test_warns_of_a_stop_before_a_start if {
	every start in [
		_words(["systemctl", "start", "nginx"], ["service_control"]),
		_words(["systemctl", "restart", "nginx", "cron"], ["service_control"]),
	] {
		doc := testing.request([_stopped, start], [])
		rule.warn == {{"command": 0}, {"command": 1}} with input as doc
		rule.ask == set() with input as doc
	}
	doc := testing.request(
		[_words(["nginx", "-s", "stop"], ["service_control", "listens"]), {}, _words(["nginx"], ["listens"])],
		[],
	)
	rule.warn == {{"command": 0}} with input as doc
	rule.ask == set() with input as doc
}

test_asks_where_another_service_starts if {
	every start in [
		_words(["systemctl", "start", "cron"], ["service_control"]),
		_words(["service", "nginx", "start"], ["service_control"]),
		_words(["systemctl", "status", "nginx"], []),
		object.union(_words(["systemctl", "start", "nginx"], ["service_control"]), {"certainty": "partial"}),
	] {
		{"command": 0} in rule.ask with input as testing.request([_stopped, start], [])
	}
	{"command": 1} in rule.ask with input as testing.request(
		[_words(["systemctl", "start", "nginx"], ["service_control"]), _stopped],
		[],
	)
	unknown := object.union(_stopped, {"certainty": "partial"})
	start := _words(["systemctl", "start", "nginx"], ["service_control"])
	{"command": 0} in rule.ask with input as testing.request([unknown, start], [])
	masked := _words(["systemctl", "disable", "nginx"], ["service_control"])
	{"command": 0} in rule.ask with input as testing.request([masked, start], [])
}
