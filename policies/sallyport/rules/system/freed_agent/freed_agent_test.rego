package sallyport.rules.system.freed_agent_test

import data.sallyport.rules.system.freed_agent as rule
import data.sallyport.testing

test_denies_an_agent_that_asks_nobody if {
	rule.deny == {{"command": 0}} with input as testing.command({"name": "claude", "flags": ["frees_agent"]})
}

test_allows_an_agent_that_asks if {
	rule.deny == set() with input as testing.command({"name": "claude", "flags": []})
}

_settings := "/w/.claude/settings.json sets an agent's rights and the programs that it starts"

_touched(access, labels) := testing.path({
	"path": "/w/.claude/settings.json", "access": access, "labels": array.concat(["agent_settings"], labels),
})

test_denies_changes_of_settings if {
	rule.deny == {{"path": 0, "msg": _settings}} with input as _touched("write", [])
	rule.deny == {{"path": 0, "msg": _settings}} with input as _touched("delete", [])
}

test_allows_looking_at_settings if {
	rule.deny == set() with input as _touched("read", [])
	rule.deny == set() with input as _touched("write", ["metadata"])
}

test_allows_settings_that_git_brings if {
	rule.deny == set() with input as testing.request(
		[{"name": "git", "paths": [0]}],
		[{"path": "/w/.mcp.json", "access": "write", "labels": ["agent_settings"], "command": 0}],
	)
}
