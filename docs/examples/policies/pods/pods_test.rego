package custom.system.pods_test

import data.custom.system.pods as rule
import data.sallyport.testing

_digest := "sha256:3f1e2d0c9b8a79685746352413021f0e1d2c3b4a5968778695a4b3c2d1e0f9a8"

_pod(changes) := object.union(testing.command({"name": "ls"}), {"runner": {"name": "cluster", "place": object.union(
	{"seen": true, "runtime": "gvisor", "image": "agent:1", "digest": _digest, "memory": 2147483648},
	changes,
)}})

test_ours if rule.deny == set() with input as _pod({})

test_another_runtime if count(rule.deny) == 1 with input as _pod({"runtime": ""})

test_another_image if count(rule.deny) == 1 with input as _pod({"digest": ""})

test_no_limit if count(rule.deny) == 1 with input as _pod({"memory": 0})

test_too_much if count(rule.deny) == 1 with input as _pod({"memory": 4294967297})

test_not_looked_up if count(rule.deny) == 1 with input as _pod({"seen": false})

test_another_runner if rule.deny == set() with input as testing.command({"name": "ls"})
