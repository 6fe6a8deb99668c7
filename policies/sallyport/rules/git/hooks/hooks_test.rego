package sallyport.rules.git.hooks_test

import data.sallyport.rules.git.hooks as rule
import data.sallyport.testing

_write(label) := testing.path({"path": "/ws/.git/f", "access": "write", "labels": [label]})

test_denies_hooks if {
	rule.deny == {{"path": 0, "msg": "/ws/.git/f is run by git"}} with input as _write("git_hook")
}

test_asks_for_configuration if {
	rule.ask == {{"path": 0, "msg": "/ws/.git/f tells git what to run"}} with input as _write("git_config")
	rule.deny == set() with input as _write("git_config")
}

test_allows_reading if {
	doc := testing.path({"labels": ["git_config", "git_hook"]})
	rule.deny == set() with input as doc
	rule.ask == set() with input as doc
}
