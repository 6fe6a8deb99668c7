package sallyport.rules.system.service_units_test

import data.sallyport.rules.system.service_units as rule
import data.sallyport.testing

test_denies_writes if {
	every access in ["write", "delete"] {
		doc := testing.path({"path": "/u", "access": access, "labels": ["service_unit"]})
		rule.deny == {{"path": 0, "msg": "/u is started by the service manager"}} with input as doc
	}
}

test_allows_reading if {
	rule.deny == set() with input as testing.path({"labels": ["service_unit"]})
}
