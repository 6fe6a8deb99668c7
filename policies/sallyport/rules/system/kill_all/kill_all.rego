# METADATA
# title: All processes killed
# description: Signals every process that can be reached, or the first one.
# custom:
#   severity: critical
#   remediation: Kill the one process you started, by its id.
#   examples:
#     - kill -9 -1
#     - killall5 -9
#     - kill 1
#   lookalikes:
#     - kill -9 12345
#     - kill -l
#     - sleep 60 & kill $!
package sallyport.rules.system.kill_all

import data.sallyport.lib

deny contains {"command": i} if some i in lib.with_flag.kills_all

deny contains {"command": i} if some i in lib.with_flag.kills_init
