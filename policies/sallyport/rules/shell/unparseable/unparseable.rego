# METADATA
# title: Text that cannot be read
# description: What cannot be read cannot be judged, and what cannot be judged does not run.
# custom:
#   severity: high
#   remediation: Send plain, complete bash. Put long programs into a file in the workspace and run that.
#   examples:
#     - echo "no end
#     - if true; then
#     - echo $(
#   lookalikes:
#     - echo "an end"
#     - if true; then echo yes; fi
package sallyport.rules.shell.unparseable

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
