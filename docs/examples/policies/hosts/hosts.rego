# METADATA
# title: The network ends at our hosts
# description: |
#   A command may reach the hosts on the list. One that reaches the network and does not say whom it asks
#   is put before a person, unless it is a program whose configuration says so.
# custom:
#   severity: high
#   remediation: Ask for the host to be put on the list, or do without it.
#   examples:
#     - curl https://elsewhere.test/x
#     - curl -s $URL
#     - git clone https://git.elsewhere.test/x.git
#   lookalikes:
#     - curl https://api.example.com/x
#     - git pull
#     - echo https://elsewhere.test
package custom.network.hosts

import data.custom.hosts as lists
import data.sallyport.lib

deny contains {"command": i, "msg": $"{host} is not on the list of hosts"} if {
	some i in lib.with_effect.network
	some host in input.commands[i].hosts
	not lib.within_domains(host, lists.hosts)
}

ask contains {"command": i, "msg": $"{c.name} reaches the network, and where is not known"} if {
	some i in lib.with_effect.network
	c := input.commands[i]
	c.hosts == []
	not c.name in lists.configured
}
