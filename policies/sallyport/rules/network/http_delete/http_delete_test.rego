package sallyport.rules.network.http_delete_test

import data.sallyport.rules.network.http_delete as rule
import data.sallyport.testing

_delete(hosts) := testing.command({"flags": ["http_delete"], "hosts": hosts})

test_asks_for_other_machines if {
	rule.ask == {{"command": 0}} with input as _delete(["example.com"])
	rule.ask == {{"command": 0}} with input as _delete([])
	rule.warn == set() with input as _delete(["example.com"])
}

test_warns_here if {
	rule.warn == {{"command": 0}} with input as _delete(["localhost"])
	rule.ask == set() with input as _delete(["localhost"])
}

test_allows_other_requests if {
	rule.ask == set() with input as testing.command({"flags": ["downloads"], "hosts": ["example.com"]})
}
