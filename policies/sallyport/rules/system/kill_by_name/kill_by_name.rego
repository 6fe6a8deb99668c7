# METADATA
# title: Processes killed by name, or unknown ones
# description: Every process with that name is hit, those of other agents and of the agent itself among them.
# custom:
#   severity: medium
#   remediation: Kill the process you started by its id, for example kill $!.
#   examples:
#     - pkill node
#     - killall python3
#     - kill $(pgrep cron)
#   lookalikes:
#     - kill 12345
#     - sleep 60 & kill $!
#     - pgrep node
#     - ps aux | grep node
package sallyport.rules.system.kill_by_name

import data.sallyport.lib

ask contains {"command": i} if {
	some i in lib.with_flag.kills_by_name
	not lib.with_flag.kills_all[i]
}

ask contains {"command": i} if {
	some i in lib.with_flag.kills_unknown
	not lib.with_flag.kills_by_name[i]
	input.commands[i].script == ""
}
