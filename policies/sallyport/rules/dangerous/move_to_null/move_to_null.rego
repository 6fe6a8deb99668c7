# METADATA
# title: File moved or linked to the null device
# description: >-
#   mv onto /dev/null loses the file (and, as root, the device); a link to /dev/null in place of a file throws away
#   all that is written there later.
# custom:
#   severity: high
#   remediation: Delete the file with rm if it shall go; redirect output with > /dev/null if only the output shall go.
#   examples:
#     - mv notes.txt /dev/null
#     - mv notes.txt /dev/./null
#     - ln -sf /dev/null app.conf
#   lookalikes:
#     - mv a.txt b.txt > /dev/null
#     - mv a b; grep x y > /dev/null
#     - cat notes.txt /dev/null
package sallyport.rules.dangerous.move_to_null

import data.sallyport.lib

_movers := {"mv", "ln", "link"}

deny contains {"path": i} if {
	some i in lib.with_label.null_device
	p := input.paths[i]
	p.source != "redirect"
	input.commands[p.command].name in _movers
}
