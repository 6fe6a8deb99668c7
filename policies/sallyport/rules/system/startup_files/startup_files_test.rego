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
	rule.ask == {{"path": 0, "msg": "/h/.ssh/config instructs other programs"}} with input as doc
}

_configuration(zone, labels) := testing.path({
	"path": "/h/.x",
	"access": "write",
	"zone": zone,
	"labels": labels,
})

test_asks_for_each_configuration_at_home if {
	every label in ["agent_config", "editor_config", "git_config"] {
		doc := _configuration("home", [label])
		rule.ask == {{"path": 0, "msg": "/h/.x instructs other programs"}} with input as doc
		rule.warn == set() with input as doc
		rule.ask == set() with input as _configuration("workspace", [label])
		rule.ask == set() with input as _configuration("home", [label, "metadata"])
		rule.ask == set() with input as _configuration("home", [label, "autorun"])
	}
	rule.ask == set() with input as _configuration("home", ["cache"])
}

_by(name, doc) := testing.request([{"name": name}], doc.paths)

test_allows_what_git_brings if {
	rule.ask == set() with input as _by("git", _configuration("home", ["git_config"]))
	rule.ask == set() with input as _by("git", _obeyed(["autorun"]))
	rule.warn == set() with input as _by("git", _configuration("workspace", ["agent_config"]))
}

test_allows_empty_directories if {
	rule.ask == set() with input as _by("mkdir", _obeyed(["autorun"]))
	rule.ask == set() with input as _by("mkdir", _configuration("workspace", ["holds_autorun"]))
	rule.ask == set() with input as testing.path({"labels": ["holds_autorun"]})
}

test_asks_once_for_startup_files_that_are_obeyed if {
	count(rule.ask) == 1 with input as _obeyed(["autorun", "shell_startup"])
	rule.ask == set() with input as testing.path({"access": "write", "labels": ["autorun", "holds_autorun"]})
}

test_asks_for_programs_of_agents_in_the_project if {
	doc := _obeyed(["agent_config", "autorun"])
	msg := "/w/.mcp.json is obeyed: Claude Code starts servers"
	rule.ask == {{"path": 0, "msg": msg}} with input as doc
	rule.warn == set() with input as doc
}

_obeyed(labels) := testing.path({
	"path": "/w/.mcp.json", "access": "write", "labels": labels,
	"obeyed_by": [
		{"program": "Claude Code", "starts": "servers", "severity": "high"},
		{"program": "Notes", "starts": "", "severity": "low"},
	],
})

test_leaves_repositories_and_shells_to_other_reasons if {
	rule.ask == set() with input as _obeyed(["autorun", "git_dir"])
	rule.ask == set() with input as _obeyed(["autorun", "metadata"])
	rule.ask == set() with input as _obeyed(["holds_autorun", "metadata"])
}

test_asks_for_a_directory_that_programs_search if {
	msg := "/w/.cursor is where programs look for the commands that they start"
	rule.ask == {{"path": 0, "msg": msg}} with input as testing.path({
		"path": "/w/.cursor", "access": "write", "labels": ["agent_config", "holds_autorun"],
	})
}

test_allows_configuration_of_the_project if {
	rule.ask == set() with input as testing.path({"access": "write", "labels": ["agent_config"]})
}

test_asks_for_deletes_of_agents_settings if {
	msg := "/w/.claude sets an agent's rights"
	rule.ask == {{"path": 0, "msg": msg}} with input as testing.path({
		"path": "/w/.claude", "access": "delete", "recursive": true, "labels": ["agent_config"],
	})
	rule.ask == {{"path": 0, "msg": msg}} with input as testing.path({
		"path": "/w/.claude", "access": "delete", "labels": ["agent_config", "autorun"],
	})
}

test_allows_deletes_of_notes_for_agents if {
	rule.ask == set() with input as testing.path({"path": "/w/CLAUDE.md", "access": "delete", "labels": ["agent_config"]})
	rule.ask == set() with input as testing.path({"access": "delete", "labels": ["autorun"]})
	rule.warn == set() with input as testing.path({"path": "/w/CLAUDE.md", "labels": ["agent_config"]})
}

test_warns_of_notes_for_agents if {
	rule.warn == {{"path": 0, "msg": "/w/CLAUDE.md instructs agents"}} with input as testing.path({
		"path": "/w/CLAUDE.md", "access": "write", "labels": ["agent_config"],
	})
}

_fetched(path) := json.patch(testing.path(path), [{"op": "add", "path": "/commands/0/flags/-", "value": "downloads"}])

test_asks_of_notes_for_agents_from_the_network if {
	notes := {"path": "/w/CLAUDE.md", "access": "write", "labels": ["agent_config"]}
	msg := "/w/CLAUDE.md instructs agents, and comes from the network"
	rule.ask == {{"path": 0, "msg": msg}} with input as _fetched(notes)
	rule.ask == set() with input as _fetched(object.union(notes, {"access": "read"}))
	rule.ask == set() with input as _fetched(object.union(notes, {"labels": []}))
	count(rule.ask) == 1 with input as _fetched(object.union(notes, {"zone": "home"}))
	count(rule.ask) == 1 with input as _fetched(object.union(notes, {"labels": ["agent_config", "autorun"], "obeyed_by": [{
		"program": "CI",
		"starts": "jobs", "severity": "medium",
	}]}))
}

_left(labels, more) := json.patch(
	testing.path(object.union(
		{
			"path": "/w/f", "access": "write", "labels": labels,
			"obeyed_by": [{"program": "CI", "starts": "jobs", "severity": "medium"}],
		},
		more,
	)),
	[{"op": "add", "path": "/request/tool", "value": "changes"}],
)

_obeyed_later := {{"path": 0, "msg": "/w/f is obeyed: CI starts jobs"}}

test_warns_of_pipelines_that_a_command_left if {
	doc := _left(["ci_config", "autorun"], {})
	rule.ask == set() with input as doc
	rule.warn == _obeyed_later with input as doc
	by_tool := json.patch(doc, [{"op": "add", "path": "/request/tool", "value": "write_file"}])
	rule.ask == _obeyed_later with input as by_tool
	in_trial := json.patch(doc, [{"op": "add", "path": "/request/trial", "value": true}])
	rule.ask == _obeyed_later with input as in_trial
}

test_warns_of_installed_packages_that_a_command_left if {
	doc := _left(["hook_config", "autorun"], {"generated": true})
	rule.ask == set() with input as doc
	rule.warn == _obeyed_later with input as doc
	rule.ask == _obeyed_later with input as _left(["hook_config", "autorun"], {})
	by_tool := json.patch(doc, [{"op": "add", "path": "/request/tool", "value": "write_file"}])
	rule.ask == _obeyed_later with input as by_tool
	in_trial := json.patch(doc, [{"op": "add", "path": "/request/trial", "value": true}])
	rule.ask == _obeyed_later with input as in_trial
	at_once := [{"program": "CI", "starts": "jobs", "severity": "high"}]
	rule.ask == _obeyed_later with input as _left(["autorun"], {"generated": true, "obeyed_by": at_once})
	notes := array.concat(doc.paths[0].obeyed_by, [{"program": "Notes", "starts": "", "severity": "low"}])
	rule.warn == _obeyed_later with input as _left(["autorun"], {"generated": true, "obeyed_by": notes})
}

_obeyed_by(program, zone) := _left(["directory_config", "autorun"], {
	"zone": zone,
	"obeyed_by": [{"program": program, "starts": "jobs", "severity": "high"}],
})

test_warns_of_environments_of_the_project_that_a_command_left if {
	rule.ask == set() with input as _obeyed_by("Python", "workspace")
	count(rule.warn) == 1 with input as _obeyed_by("Python", "workspace")
	count(rule.ask) == 1 with input as _obeyed_by("Python", "context")
	count(rule.ask) == 1 with input as _obeyed_by("direnv", "workspace")
	doc := _obeyed_by("Python", "workspace")
	in_trial := json.patch(doc, [{"op": "add", "path": "/request/trial", "value": true}])
	count(rule.ask) == 1 with input as in_trial
}
