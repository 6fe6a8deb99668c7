package sallyport.rules.system.logs_test

import data.sallyport.rules.system.logs as rule
import data.sallyport.testing

_log(name, access) := testing.request([{"name": name}], [{"path": "/l", "access": access, "labels": ["system_log"]}])

test_denies_changes if {
	rule.deny == {{"path": 0, "msg": "/l is a system log"}} with input as _log("rm", "delete")
	rule.deny == {{"path": 0, "msg": "/l is a system log"}} with input as _log("truncate", "write")
}

test_allows_adding_and_reading if {
	rule.deny == set() with input as _log("logger", "write")
	rule.deny == set() with input as _log("cat", "read")
}
