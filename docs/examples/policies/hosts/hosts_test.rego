package custom.network.hosts_test

import data.custom.network.hosts as rule
import data.sallyport.testing

_curl(hosts) := testing.command({
	"name": "curl", "effects": ["network"],
	"targets": [{"kind": "host", "host": host, "certainty": "exact"} | some host in hosts],
})

test_on_the_list if {
	rule.deny == set() with input as _curl(["git.example.com", "eu.api.example.com"])
	rule.ask == set() with input as _curl(["git.example.com"])
}

test_not_on_the_list if {
	{finding.command | some finding in rule.deny} == {0} with input as _curl(["api.example.com.elsewhere.test"])
}

test_not_known if count(rule.ask) == 1 with input as _curl([])

test_one_is_not_known if {
	count(rule.ask) == 1 with input as _curl(["git.example.com", ""])
	rule.deny == set() with input as _curl(["git.example.com", ""])
}

test_none_is_known if count(rule.ask) == 2 with input as _curl([""])

test_configured if {
	rule.ask == set() with input as testing.command({"name": "git", "effects": ["network"]})
}

test_a_name_is_no_connection if {
	rule.deny == set() with input as testing.command({"name": "echo", "targets": [{"kind": "host", "host": "elsewhere.test", "certainty": "exact"}]})
}
