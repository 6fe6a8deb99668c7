# METADATA
# title: Text that cannot be read
# description: >-
#   A text that cannot be read cannot be judged, and does not run. A person is asked about a text that reads
#   as bash, but has a part that changes how the shell reads the rest, or that shells read differently.
# custom:
#   severity: high
#   trial: true
#   remediation: Send plain, complete bash. Put long programs into a file in the workspace and run that.
#   examples:
#     - echo "no end
#     - if true; then
#     - echo $(
#     - shopt -s nocaseglob; rm -rf BUILD*
#     - set -k; ls
#   lookalikes:
#     - shopt -s nullglob; ls *.txt
#     - set -euo pipefail; ls
#     - echo "an end"
#     - if true; then echo yes; fi
package sallyport.rules.shell.unparseable

import data.sallyport.lib

_messages := {
	"empty": "there is no command in the text",
	"too_long": "the text is too long to be judged",
	"nul_byte": "the text holds a NUL byte, which bash would drop",
	"carriage_return": "the text holds a carriage return outside quotes, which some readers take for the end of a line",
	"invalid_utf8": "the text is not valid UTF-8",
	"control_character": "the text holds invisible or direction-changing characters",
	"nesting": "brackets, quotes or substitutions are nested too deeply to be judged",
	"syntax": "the text is not a complete bash program",
}

deny contains {"msg": object.get(_messages, input.shell.error, "the text cannot be read")} if not input.shell.parsed

ask contains {"msg": "a part of the text has a form or an option that is not understood"} if {
	input.shell.parsed
	input.shell.budget == ""
	input.shell.certainty == "unknown"
	every c in input.commands { c.certainty != "unknown" }
	not lib.judged_later
}
