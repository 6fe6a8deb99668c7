# METADATA
# title: Protection switched off or changed
# description: Switches off the firewall, mandatory access control or auditing, or changes the firewall.
# custom:
#   severity: critical
#   remediation: Leave the protection of the machine to the operator.
#   examples:
#     - setenforce 0
#     - ufw disable
#     - iptables -F
#   lookalikes:
#     - getenforce
#     - ufw status
#     - iptables -L
package sallyport.rules.system.security_controls

import data.sallyport.lib

deny contains {"command": i} if some i in lib.with_flag.disables_security

ask contains {"command": i} if {
	some i in lib.with_flag.firewall
	not lib.with_flag.disables_security[i]
}
