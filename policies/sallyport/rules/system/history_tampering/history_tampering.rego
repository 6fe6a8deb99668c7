# METADATA
# title: Shell history tampered with
# description: Deletes, empties or switches off the command history of this account.
# custom:
#   severity: high
#   remediation: Leave the history as it is.
#   examples:
#     - history -c
#     - unset HISTFILE
#     - rm ~/.bash_history
#     - ln -sf /dev/null ~/.bash_history
#     - export HISTSIZE=0
#   lookalikes:
#     - history
#     - tail ~/.bash_history
#     - git log --oneline
package sallyport.rules.system.history_tampering

import data.sallyport.lib

deny contains {"command": i} if some i in lib.with_flag.history

deny contains {"path": i, "msg": $"{p.path} records earlier commands"} if {
	some i in lib.with_label.history_file
	p := input.paths[i]
	p.access in {"write", "delete"}
}
