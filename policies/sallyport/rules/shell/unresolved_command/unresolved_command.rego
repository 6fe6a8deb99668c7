# METADATA
# title: Command word that is not known
# description: >-
#   The program to be run depends on a value that is only known when it runs. Nothing can be said about it, so a person
#   is asked; with elevated rights or with a pattern where a name belongs it is refused.
# custom:
#   severity: high
#   remediation: Write the program's name out; use variables for its arguments only.
#   examples:
#     - read -r CMD; $CMD --all
#     - "$(cat tool.txt) --all"
#     - "mapfile -t TOOLS < list; ${TOOLS[0]} x"
#   lookalikes:
#     - c=ls; $c -l
#     - read -r CMD; echo "$CMD"
#     - $(echo ls) -l
package sallyport.rules.shell.unresolved_command

import data.sallyport.lib

_unknown contains i if {
	some i in lib.with_certainty.unknown
	i in lib.in_text
}

deny contains {"command": i} if {
	some i in _unknown
	input.commands[i].elevated
}

ask contains {"command": i} if {
	some i in _unknown
	not input.commands[i].elevated
}
