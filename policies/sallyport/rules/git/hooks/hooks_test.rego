package sallyport.rules.git.hooks_test

import data.sallyport.rules.git.hooks as rule
import data.sallyport.testing

_write(labels) := testing.path({"path": "/ws/.git/f", "access": "write", "labels": labels})

test_denies_hooks if {
	doc := _write(["git_config", "git_dir", "git_hook"])
	rule.deny == {{"path": 0, "msg": "/ws/.git/f is run by git"}} with input as doc
	rule.ask == set() with input as doc
	rule.warn == set() with input as doc
	rule.ask == set() with input as _write(["git_dir", "git_hook"])
}

test_asks_for_configuration if {
	want := {{"path": 0, "msg": "/ws/.git/f names programs that git runs"}}
	rule.ask == want with input as _write(["git_config", "git_dir"])
	rule.deny == set() with input as _write(["git_config", "git_dir"])
}

test_warns_of_hooks_that_are_part_of_the_project if {
	rule.warn == {{"path": 0, "msg": "/ws/.git/f is run by git"}} with input as _write(["git_hook"])
	rule.deny == set() with input as _write(["git_hook"])
}

test_asks_for_what_git_writes_alone if {
	rule.ask == {{"path": 0, "msg": "/ws/.git/f is written by git alone"}} with input as _write(["git_dir"])
	rule.ask == set() with input as _write(["git_dir", "metadata"])
	by_git := testing.request([{"name": "git"}], [{"access": "write", "labels": ["git_dir"]}])
	rule.ask == set() with input as by_git
}

test_allows_reading if {
	doc := testing.path({"labels": ["git_config", "git_hook"]})
	rule.deny == set() with input as doc
	rule.ask == set() with input as doc
	rule.warn == set() with input as doc
}

test_leaves_what_git_writes_to_its_rule if {
	doc := testing.request([{"name": "git"}], [{"access": "write", "labels": ["git_config"]}])
	rule.ask == set() with input as doc
}
