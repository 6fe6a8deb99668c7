# METADATA
# title: Machine's clock changed
# description: Logs, certificates and builds depend on the time, and so does the audit record.
# custom:
#   severity: medium
#   remediation: Use faketime or a test clock inside the program.
#   examples:
#     - date -s 2020-01-01
#     - timedatectl set-time 2020-01-01
#   lookalikes:
#     - date
#     - date +%Y-%m-dd
#     - date -d yesterday +%F
package sallyport.rules.system.clock

import data.sallyport.lib

ask contains {"command": i} if some i in lib.with_flag.clock
