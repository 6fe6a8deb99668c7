package sallyport.rules.system.infrastructure_test

import data.sallyport.rules.system.infrastructure as rule
import data.sallyport.testing

_grants := "this gives rights, or makes something public"

test_asks_for_a_change_nobody_saw if {
	rule.ask == {{"command": 0}} with input as testing.command({"name": "terraform", "flags": ["unreviewed"]})
	rule.ask == {{"command": 0}} with input as testing.command({"name": "kubectl", "flags": ["unreviewed", "grants_access"]})
}

test_asks_for_rights if {
	rule.ask == {{"command": 0, "msg": _grants}} with input as testing.command({"name": "aws", "flags": ["grants_access"]})
}

test_allows_a_dry_run if {
	rule.ask == set() with input as testing.command({"name": "kubectl", "flags": ["unreviewed", "dry_run"]})
	rule.ask == set() with input as testing.command({"name": "kubectl", "flags": ["grants_access", "dry_run"]})
}
