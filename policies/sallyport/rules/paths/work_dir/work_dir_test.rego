package sallyport.rules.paths.work_dir_test

import data.sallyport.rules.paths.work_dir as rule
import data.sallyport.testing

_in(request) := object.union(testing.command({}), {"request": request})

test_denies_unusable_directories if {
	rule.deny == {{"msg": "the working directory does not exist"}} with input as _in({"work_dir_state": "missing"})
	rule.deny == {{"msg": "the working directory cannot be used"}} with input as _in({"work_dir_state": "new_state"})
}

test_denies_directory_outside if {
	rule.deny == {{"msg": "/etc lies outside what the operator has granted"}} with input as _in({
		"work_dir": "/etc",
		"work_dir_allowed": false,
	})
}

test_allows_the_workspace if {
	rule.deny == set() with input as testing.command({})
}
