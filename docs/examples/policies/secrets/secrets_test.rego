package custom.secrets.arguments_test

import data.custom.secrets.arguments as rule
import data.sallyport.testing

_words(words) := testing.command({"argv": array.concat(["prog"], words)})

# Put together here, so that no scanner takes this file for a leak.
test_every_pattern_matches[kind] if {
	some kind, parts in {
		"a key of a cloud": ["AK", "IAABCDEFGHIJKLMNOP"],
		"a token of a code host": ["header: gh", "p_abcdefghijklmnopqrstuvwx"],
		"a private key": ["-----BEGIN OPENSSH PRI", "VATE KEY-----"],
		"a token of ours": ["acme_", "0123456789abcdef"],
	}
	rule.deny == {{"command": 0, "msg": $"prog is given what looks like {kind}"}} with input as _words([concat("", parts)])
}

test_options if count(rule.deny) == 1 with input as _words(["--password", "x", "--token=y"])

test_harmless if count(rule.deny) == 0 with input as _words(["--token-file", "acme_0", "AKIA"])

test_what_is_said_holds_no_secret if {
	every finding in rule.deny {
		not contains(finding.msg, "0123456789")
	}
		with input as _words(["acme_0123456789abcdef"])
}
