# METADATA
# title: Not known to be read-only or harmless
# description: >-
#   A command that sallyport does not know or cannot read to its end, code that it could not look through, an
#   effect beyond reading and writing files, or a tool of another MCP server. Part of the profiles strict and
#   readonly.
# custom:
#   severity: low
#   trial: true
#   remediation: Use plain commands with constant arguments, or have a person confirm.
#   profile: strict
#   examples:
#     - some-program --of-mine
#     - cat "$HOSTNAME"
#     - curl https://example.com
#     - 'mcp_tool:files/write_file: write new.txt'
#   lookalikes:
#     - ls -la
#     - grep -rn main .
#     - 'write_file: write new.txt'
package sallyport.rules.strict.not_known_safe

import data.sallyport.lib

_reasons contains [i, "is not a known command"] if {
	some i in _programs
	not input.commands[i].known
}

_reasons contains [i, "is known only when it runs"] if {
	some i in _programs
	input.commands[i].certainty != "exact"
}

_reasons contains [i, "runs code that could not be looked through"] if {
	some i, c in input.commands
	c.code.from != ""
	not c.code.resolved
}

_reasons contains [i, $"has the effect {effect}"] if {
	some effect in ["network", "privilege", "process", "system"]
	some i in lib.with_effect[effect]
}

# Bare assignments run nothing.
_programs := {i |
	some i in lib.in_text
	count(input.commands[i].argv) > 0
}

ask contains {"command": i, "msg": $"{word} {reason}"} if {
	some [i, reason] in _reasons
	word := input.commands[i].program
}

# Its effects are those that its server gives it.
ask contains {"msg": $"{input.request.tool} is a tool of another MCP server"} if {
	startswith(input.request.tool, "mcp_tool:")
}
