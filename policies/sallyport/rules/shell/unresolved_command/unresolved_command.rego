# METADATA
# title: Unknown command or subcommand
# description: >-
#   The program, or its subcommand where some delete, depends on a value that is only known when it runs. Nothing can be
#   said about it, so a person is asked; with elevated rights or with a pattern where a name belongs it is refused.
# custom:
#   severity: high
#   trial: true
#   remediation: Write the program's name out; use variables for its arguments only.
#   examples:
#     - read -r CMD; $CMD --all
#     - read -r verb; kubectl "$verb" ns prod
#     - x=$(head -1 verbs.txt); terraform "$x" -auto-approve
#     - "$(cat tool.txt) --all"
#     - "mapfile -t TOOLS < list; ${TOOLS[0]} x"
#   lookalikes:
#     - read -r package; npm view "$package"
#     - git log "$(git merge-base main HEAD)"
#     - c=ls; $c -l
#     - read -r CMD; echo "$CMD"
#     - $(echo ls) -l
package sallyport.rules.shell.unresolved_command

import data.sallyport.lib

_unknown contains i if {
	some i in lib.with_certainty.unknown
	i in lib.in_text
}

_unknown contains i if {
	some i in lib.with_flag.unresolved_verb
	i in lib.in_text
}

deny contains {"command": i} if {
	some i in _unknown
	input.commands[i].elevated
}

ask contains {"command": i} if {
	some i in _unknown
	not input.commands[i].elevated
	not _later(i)
}

# A program that may download feeds it, and neither start tells that.
_later(i) if {
	lib.judged_later
	not i in lib.fed_from_network
	not "masked" in input.commands[i].flags
}
