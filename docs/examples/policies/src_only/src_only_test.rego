package custom.paths.src_only_test

import data.custom.paths.src_only as rule
import data.sallyport.testing

_findings(path) := n if {
	n := count(rule.deny) with input as testing.path(path) with data.sallyport.config.workspace as "/ws"
}

test_below_src if _findings({"access": "write", "real": "/ws/src/a/b.go"}) == 0

test_beside_src if _findings({"access": "write", "real": "/ws/srcs/b.go"}) == 1

test_a_link_out_of_src if _findings({"access": "delete", "path": "/ws/src/x", "real": "/ws/x"}) == 1

test_not_wholly_known if _findings({"access": "write", "real": "/ws/src/", "certainty": "partial"}) == 1

test_reading if _findings({"access": "read", "real": "/ws/x"}) == 0

test_temporary if _findings({"access": "write", "real": "/tmp/x", "zone": "temporary"}) == 0

test_nowhere if _findings({"access": "write", "real": "/dev/null", "labels": ["null_device"]}) == 0
