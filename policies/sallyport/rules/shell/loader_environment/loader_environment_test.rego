package sallyport.rules.shell.loader_environment_test

import data.sallyport.rules.shell.loader_environment as rule
import data.sallyport.testing

_with(flag, name) := testing.command({"flags": [flag], "env": ["A", name]})

test_denies_injection if {
	rule.deny == {{"command": 0}} with input as _with("loader_env", "LD_PRELOAD")
	rule.deny == {{"command": 0}} with input as _with("hook_env", "BASH_ENV")
	rule.ask == set() with input as _with("hook_env", "BASH_ENV")
}

test_asks_for_hooks if {
	rule.ask == {{"command": 0}} with input as _with("hook_env", "GIT_SSH_COMMAND")
	rule.deny == set() with input as _with("hook_env", "GIT_SSH_COMMAND")
}

test_asks_for_a_path_that_is_open_to_others if {
	rule.ask == {{"command": 0}} with input as _with("open_path", "PATH")
	rule.ask == set() with input as _with("path_env", "PATH")
}

test_warns_of_library_paths if {
	rule.warn == {{"command": 0}} with input as _with("loader_env", "LD_LIBRARY_PATH")
	rule.deny == set() with input as _with("loader_env", "LD_LIBRARY_PATH")
	rule.ask == set() with input as _with("loader_env", "LD_LIBRARY_PATH")
}

test_allows_other_variables if {
	doc := testing.command({"env": ["PYTHONPATH"]})
	rule.deny == set() with input as doc
	rule.ask == set() with input as doc
	rule.warn == set() with input as doc
}

_loads(zone) := testing.request(
	[{"flags": ["loader_env"], "env": ["NODE_OPTIONS"]}],
	[{"access": "execute", "source": "argument", "zone": zone}],
)

test_asks_for_code_from_elsewhere if {
	rule.ask == {{"command": 0}} with input as _loads("temporary")
	rule.ask == set() with input as _loads("workspace")
}

test_denies_each_injection if {
	every name in ["BASH_ENV", "DYLD_INSERT_LIBRARIES", "ENV", "LD_AUDIT", "LD_PRELOAD", "PROMPT_COMMAND"] {
		rule.deny == {{"command": 0}} with input as _with("loader_env", name)
	}
}

test_denies_without_a_question_or_a_warning if {
	every flags in [["open_path"], ["loader_env"], ["hook_env"]] {
		doc := testing.request(
			[{"flags": flags, "env": ["LD_PRELOAD"]}],
			[{"access": "execute", "zone": "temporary"}],
		)
		rule.ask == set() with input as doc
		rule.warn == set() with input as doc
	}
}

test_leaves_hooks_in_scripts_to_the_script if {
	rule.ask == set() with input as testing.command({"flags": ["hook_env"], "env": ["GIT_SSH_COMMAND"], "script": "./x.sh"})
	rule.ask == set() with input as testing.command({"flags": ["hook_env", "open_path"], "env": ["PATH"], "script": "./x.sh"})
	rule.ask == set() with input as testing.request(
		[{"flags": ["hook_env", "loader_env"], "env": ["NODE_OPTIONS"], "script": "./x.sh"}],
		[{"access": "execute", "zone": "temporary"}],
	)
}

test_asks_for_loaded_files_only if {
	rule.ask == set() with input as _loads("context")
	every fields in [{"access": "read"}, {"source": "redirect"}, {"command": 1}] {
		rule.ask == set() with input as testing.request(
			[{"flags": ["loader_env"], "env": ["NODE_OPTIONS"]}],
			[object.union({"access": "execute", "source": "argument", "zone": "temporary"}, fields)],
		)
	}
	rule.ask == set() with input as testing.request([{}], [{"access": "execute", "source": "argument", "zone": "temporary"}])
}
