# METADATA
# title: Machine switched off or restarted
# description: Stops the machine on which the agent, and perhaps others, are working.
# custom:
#   severity: critical
#   remediation: Stop the one service or process that is in the way.
#   examples:
#     - shutdown -h now
#     - reboot
#     - systemctl poweroff
#   lookalikes:
#     - uptime
#     - echo reboot later
#     - git commit -m "fix shutdown"
package sallyport.rules.system.shutdown

import data.sallyport.lib

deny contains {"command": i} if some i in lib.with_flag.shutdown
