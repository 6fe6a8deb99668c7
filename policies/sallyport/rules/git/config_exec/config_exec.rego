# METADATA
# title: Program started by way of git's configuration
# description: Pagers, aliases, ssh commands, hooks paths and the like make git run a program that the command line does not show.
# custom:
#   severity: high
#   remediation: Run the program directly.
#   examples:
#     - git -c core.pager='sh -c id' log
#     - git -c alias.x='!id' x
#     - git -c core.fsmonitor='sh -c id' status
#   lookalikes:
#     - git -c core.pager=cat log
#     - git -c user.name=a commit -m x
#     - git config user.name
package sallyport.rules.git.config_exec

import data.sallyport.lib

deny contains {"command": i} if {
	some i in lib.with_flag.config_exec
	input.commands[i].script == ""
	not lib.started
}

ask contains {"command": i} if {
	some i in lib.with_flag.config_exec
	input.commands[i].script != ""
	not lib.started
}
