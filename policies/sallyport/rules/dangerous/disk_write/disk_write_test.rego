package sallyport.rules.dangerous.disk_write_test

import data.sallyport.rules.dangerous.disk_write as rule
import data.sallyport.testing

test_denies_disk_tools if {
	rule.deny == {{"command": 0}, {"command": 1}} with input as testing.request(
		[{"flags": ["disk_write"]}, {"flags": ["formats_disk"]}, {}],
		[],
	)
}

test_denies_redirect_to_a_device if {
	rule.deny == {{"path": 0, "msg": "/dev/sda is a device"}} with input as testing.path({
		"access": "write",
		"path": "/dev/sda",
		"labels": ["disk_device"],
	})
}

test_denies_writing_to_memory if {
	rule.deny == {{"path": 0, "msg": "/dev/mem is a device"}} with input as testing.path({
		"access": "write",
		"path": "/dev/mem",
		"labels": ["memory_device"],
	})
}

test_finds_one_reason_in_a_disk_tool if {
	device := {"access": "write", "path": "/dev/sda", "labels": ["disk_device"]}
	rule.deny == {{"command": 0}} with input as testing.request([{"flags": ["disk_write"]}], [device])
}

test_allows_reading_a_device if {
	rule.deny == set() with input as testing.path({"path": "/dev/sda", "labels": ["disk_device"]})
}

test_allows_files_and_the_null_device if {
	rule.deny == set() with input as testing.path({"access": "write"})
	rule.deny == set() with input as testing.path({"access": "write", "labels": ["null_device"]})
}
