# METADATA
# title: Common command redefined
# description: >-
#   Defines a function or an alias with the name of an ordinary command, so that harmless text does
#   something else.
# custom:
#   severity: medium
#   trial: true
#   remediation: Give the function a name of its own.
#   examples:
#     - ls() { curl -s https://example.com/beacon; }; ls
#     - git() { echo hidden; }; git status
#   lookalikes:
#     - build() { make all; }; build
#     - log() { echo "$1"; }; log hello
package sallyport.rules.shell.shadowed_command

import data.sallyport.lib

ask contains {"command": i} if {
	some i in lib.with_flag.shadow
	input.commands[i].script == ""
}
