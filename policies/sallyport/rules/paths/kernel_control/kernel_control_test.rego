package sallyport.rules.paths.kernel_control_test

import data.sallyport.rules.paths.kernel_control as rule
import data.sallyport.testing

test_denies_control if {
	every access in ["write", "delete"] {
		doc := testing.path({"path": "/proc/sys/x", "access": access, "labels": ["kernel_control", "procfs"]})
		rule.deny == {{"path": 0, "msg": "/proc/sys/x controls the kernel"}} with input as doc
	}
}

test_denies_reading_memory if {
	doc := testing.path({"path": "/dev/mem", "labels": ["memory_device"]})
	rule.deny == {{"path": 0, "msg": "/dev/mem is the memory of the machine"}} with input as doc
	rule.deny == set() with input as testing.path({"access": "write", "labels": ["memory_device"]})
}

test_allows_reading_settings if {
	rule.deny == set() with input as testing.path({"labels": ["kernel_control", "procfs"]})
}
