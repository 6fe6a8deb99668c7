# METADATA
# title: Not on the operator's list of allowed commands
# description: Where the operator has given patterns of allowed commands, every command in the text must match one of them wholly.
# custom:
#   severity: medium
#   remediation: Use one of the allowed commands, or ask the operator to allow this one (commands.allow).
#   config:
#     commands: {allow: ['ls( .*)?', 'make test']}
#   examples:
#     - cat README.md
#     - ls; make install
#     - ls | wc -l
#   lookalikes:
#     - ls -l
#     - ls && make test
package sallyport.rules.filters.not_allowed

import data.sallyport.lib

deny contains {"command": i, "msg": $"{name} is not on the list"} if {
	data.sallyport.config.filters.allow > 0
	some i in lib.in_text
	c := input.commands[i]
	count(c.argv) > 0
	not c.matches.allow
	name := c.program
}
