package sallyport.rules.system.startup_files_test

import data.sallyport.rules.system.startup_files as rule
import data.sallyport.testing

_startup(access) := testing.path({"path": "/h/.bashrc", "access": access, "labels": ["shell_startup"]})

_finding := {"path": 0, "msg": "/h/.bashrc runs in every new shell"}

test_asks_for_writes if {
	rule.ask == {_finding} with input as _startup("write")
	rule.deny == set() with input as _startup("write")
}

test_denies_deletes if {
	rule.deny == {_finding} with input as _startup("delete")
}

test_allows_reading if {
	rule.ask == set() with input as _startup("read")
	rule.deny == set() with input as _startup("read")
}

test_asks_for_configuration_at_home if {
	doc := testing.path({"path": "/h/.ssh/config", "access": "write", "zone": "home", "labels": ["ssh_dir"]})
	rule.ask == {{"path": 0, "msg": "/h/.ssh/config tells other programs what to run"}} with input as doc
}

test_asks_for_programs_of_agents_in_the_project if {
	doc := testing.path({"path": "/w/.mcp.json", "access": "write", "labels": ["agent_config", "agent_program"]})
	rule.ask == {{"path": 0, "msg": "/w/.mcp.json tells other programs what to run"}} with input as doc
}

test_allows_configuration_of_the_project if {
	rule.ask == set() with input as testing.path({"access": "write", "labels": ["agent_config"]})
}

test_asks_for_deletes_of_agents_settings if {
	msg := "/w/.claude tells an agent what it may do"
	rule.ask == {{"path": 0, "msg": msg}} with input as testing.path({
		"path": "/w/.claude", "access": "delete", "recursive": true, "labels": ["agent_config"],
	})
	rule.ask == {{"path": 0, "msg": msg}} with input as testing.path({
		"path": "/w/.claude", "access": "delete", "labels": ["agent_config", "agent_program"],
	})
}

test_allows_deletes_of_notes_for_agents if {
	rule.ask == set() with input as testing.path({"path": "/w/CLAUDE.md", "access": "delete", "labels": ["agent_config"]})
}

test_warns_of_notes_for_agents if {
	rule.warn == {{"path": 0, "msg": "/w/CLAUDE.md instructs agents"}} with input as testing.path({
		"path": "/w/CLAUDE.md", "access": "write", "labels": ["agent_config"],
	})
}
