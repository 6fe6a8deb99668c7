package sallyport.rules.strict.not_known_safe_test

import data.sallyport.rules.strict.not_known_safe as rule
import data.sallyport.testing

_asks(reason, fields) if {
	doc := testing.command(object.union({"program": "x"}, fields))
	rule.ask == {{"command": 0, "msg": reason}} with input as doc
}

test_asks_about_unknown_commands if _asks("x is not a known command", {"known": false})

test_asks_about_dynamic_arguments if _asks("x is known only when it runs", {"certainty": "partial"})

test_asks_about_code_that_was_not_read if {
	_asks("x runs code that could not be looked through", {"code": {"language": "bash", "from": "argument", "origin": "dynamic", "resolved": false}})
}

test_asks_about_other_effects if {
	every effect in ["network", "privilege", "process", "system"] {
		_asks($"x has the effect {effect}", {"effects": [effect]})
	}
}

test_allows_known_reading_and_writing if {
	rule.ask == set() with input as testing.command({"effects": ["read", "write"]})
}

test_allows_code_that_was_read if {
	code := {"language": "bash", "from": "argument", "origin": "text", "resolved": true}
	rule.ask == set() with input as testing.command({"code": code})
}

test_allows_assignments if {
	rule.ask == set() with input as testing.command({"known": false, "argv": []})
}

test_asks_about_tools_of_other_servers if {
	doc := object.union(testing.request([], []), {"request": {"tool": "mcp_tool:a/b"}})
	rule.ask == {{"msg": "mcp_tool:a/b is a tool of another MCP server"}} with input as doc
	rule.ask == set() with input as object.union(doc, {"request": {"tool": "write_file"}})
}
