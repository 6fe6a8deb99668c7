package sallyport.rules.network.metadata_service_test

import data.sallyport.rules.network.metadata_service as rule
import data.sallyport.testing

_curl(host) := testing.command({"effects": ["network"], "hosts": [host]})

test_denies_metadata_service if {
	rule.deny == {{
		"command": 0,
		"msg": "169.254.169.254 hands out this machine's credentials",
	}} with input as _curl("169.254.169.254")
}

test_denies_sockets if {
	socket := testing.command({"flags": ["socket"], "hosts": ["metadata"]})
	rule.deny == {{"command": 0, "msg": "metadata hands out this machine's credentials"}} with input as socket
}

test_allows_other_hosts if {
	rule.deny == set() with input as _curl("example.com")
}

test_allows_the_address_as_text if {
	rule.deny == set() with input as testing.command({"hosts": ["169.254.169.254"]})
}
