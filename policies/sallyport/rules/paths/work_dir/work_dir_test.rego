package sallyport.rules.paths.work_dir_test

import data.sallyport.rules.paths.work_dir as rule
import data.sallyport.testing

_in(request) := object.union(testing.command({}), {"request": request})

test_denies_unusable_directories if {
	every state, msg in {
		"missing": "the working directory does not exist",
		"not_a_dir": "the working directory is not a directory",
		"unreadable": "the working directory cannot be read",
		"new_state": "the working directory cannot be used",
	} {
		rule.deny == {{"msg": msg}} with input as _in({"work_dir_state": state, "work_dir_allowed": false})
	}
}

test_denies_directory_outside if {
	rule.deny == {{"msg": "/etc lies outside the granted places"}} with input as _in({
		"work_dir": "/etc",
		"work_dir_allowed": false,
	})
}

test_allows_the_workspace if {
	rule.deny == set() with input as testing.command({})
}

test_leaves_programs_where_they_start if {
	every request in [{"work_dir_state": "missing"}, {"work_dir": "/etc", "work_dir_allowed": false}] {
		rule.deny == set() with input as _in(object.union(request, {"tool": "program"}))
	}
}
