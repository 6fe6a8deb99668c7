# METADATA
# title: System service started, stopped or changed
# description: Services of the machine are shared with others; stopping one can stop more than is seen.
# custom:
#   severity: medium
#   remediation: Start what you need as a background process of your own, or ask a person.
#   examples:
#     - systemctl stop cron
#     - service nginx restart
#     - systemctl disable ssh
#   lookalikes:
#     - systemctl status nginx
#     - service --status-all
#     - journalctl -u nginx
package sallyport.rules.system.services

import data.sallyport.lib

ask contains {"command": i} if some i in lib.with_flag.service_control
