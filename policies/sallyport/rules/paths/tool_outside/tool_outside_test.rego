package sallyport.rules.paths.tool_outside_test

import data.sallyport.rules.paths.tool_outside as rule
import data.sallyport.testing

_tool(fields) := testing.request([], [object.union({"source": "tool", "command": -1, "path": "/o/f", "real": "/o/f", "permission": "none"}, fields)])

_denied(msg) := {{"path": 0, "msg": msg}}

test_denies_every_access if {
	every access in ["read", "write", "delete", "execute"] {
		rule.deny == _denied("/o/f lies outside the granted places") with input as _tool({"access": access})
	}
}

test_denies_every_zone if {
	every zone in ["temporary", "outside", "system", "home", "credential", "self"] {
		count(rule.deny) == 1 with input as _tool({"zone": zone})
	}
}

test_denies_links_that_lead_out if {
	want := _denied("/ws/l leads to /o/f, which lies outside the granted places")
	rule.deny == want with input as _tool({"path": "/ws/l"})
}

test_denies_what_names_no_file if {
	doc := _tool({"raw": "a\u0000", "path": "", "real": "", "certainty": "unknown"})
	rule.deny == _denied("'a\u0000' is not the name of a file") with input as doc
}

test_allows_granted_places if {
	every permission in ["read", "write"] {
		rule.deny == set() with input as _tool({"permission": permission})
	}
}

test_leaves_commands_to_others if {
	every source in ["argument", "redirect", "script", "code"] {
		rule.deny == set() with input as _tool({"source": source})
	}
}

test_denies_a_name_of_no_file_once if {
	every real in ["", "/o/f"] {
		rule.deny == _denied("'x' is not the name of a file") with input as _tool({"path": "", "real": real, "certainty": "unknown"})
	}
}

test_allows_granted_links_and_patterns if {
	rule.deny == set() with input as _tool({"path": "/ws/l", "permission": "read"})
	rule.deny == set() with input as _tool({"certainty": "unknown", "permission": "read"})
}
