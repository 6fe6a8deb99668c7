# METADATA
# title: First use of an unknown program or of unread code
# description: >-
#   A command that sallyport does not know, or code that it could not look through, by a program that no
#   person has approved in this session. Once a person has approved a request, the session remembers its
#   unknown programs, and its programs that ran such code, by the word as written and, of `./x`, the
#   directory. Their contents are not compared: an approved `python3` may run other code, and an approved
#   `./x` may change. Part of the profile team.
# custom:
#   severity: low
#   trial: true
#   remediation: Use plain commands, or have a person confirm the program once in the session.
#   profile: team
#   examples:
#     - some-program --of-mine
#     - python3 made-later.py
#   lookalikes:
#     - curl https://example.com
#     - ls -la
package sallyport.rules.team.first_use

import data.sallyport.lib

# Bare assignments run nothing.
ask contains {"command": i, "msg": $"{c.program} is not a known command, and not approved"} if {
	some i in lib.in_text
	c := input.commands[i]
	count(c.argv) > 0
	not c.known
	not lib.started
	not _approved(c, {true, false})
}

ask contains {"command": i, "msg": $"{c.program} runs code that could not be looked through"} if {
	some i, c in input.commands
	c.code.from != ""
	not c.code.resolved
	not lib.started
	not _approved(c, {true})
}

_approved(c, unread) if {
	some one in input.session.approved
	one.program == c.program
	one.dir in {"", c.dir}
	one.unread in unread
}
