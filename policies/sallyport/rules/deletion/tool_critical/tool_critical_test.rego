package sallyport.rules.deletion.tool_critical_test

import data.sallyport.rules.deletion.tool_critical as rule
import data.sallyport.testing

_tool(fields) := testing.request([], [object.union({"source": "tool", "command": -1, "path": "/ws/p", "access": "delete"}, fields)])

_denied(what) := {{"path": 0, "msg": $"/ws/p {what}"}}

test_denies_granted_places if {
	rule.deny == _denied("is the workspace itself, or a directory around it") with input as _tool({"labels": ["permission_root", "workspace_root", "contains_critical_name"]})
	rule.deny == _denied("is a granted place itself, or a directory around one") with input as _tool({"labels": ["permission_root"], "zone": "temporary"})
	rule.deny == _denied("has a granted place in it") with input as _tool({"labels": ["contains_permission_root"], "recursive": true, "seen": "created"})
}

test_denies_what_a_project_keeps if {
	rule.deny == _denied("is kept by the project") with input as _tool({"labels": ["critical_name", "git_dir"]})
	what := "has something in it that the project keeps, such as .git, .env or .massgen"
	rule.deny == _denied(what) with input as _tool({"labels": ["contains_critical_name"], "recursive": true})
}

test_allows_what_the_session_made if {
	rule.deny == set() with input as _tool({"labels": ["critical_name"], "seen": "created"})
}

test_allows_temporary_places if {
	rule.deny == set() with input as _tool({"labels": ["critical_name"], "zone": "temporary"})
}

test_allows_other_files_and_accesses if {
	rule.deny == set() with input as _tool({})
	rule.deny == set() with input as _tool({"labels": ["critical_name"], "access": "write"})
}

test_leaves_commands_to_others if {
	rule.deny == set() with input as _tool({"labels": ["critical_name"], "source": "argument"})
}
