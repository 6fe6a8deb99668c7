# METADATA
# title: Cloud metadata service
# description: Speaks to the address at which a cloud machine is given its credentials.
# custom:
#   severity: critical
#   remediation: Ask the operator for the credential that the work needs.
#   examples:
#     - curl http://169.254.169.254/latest/meta-data/
#     - wget -qO- http://metadata.google.internal/computeMetadata/v1/
#   lookalikes:
#     - curl http://localhost:8080/latest/meta-data/
#     - grep -rn 169.254.169.254 src
package sallyport.rules.network.metadata_service

import data.sallyport.lib

_services := {
	"100.100.100.200", "169.254.169.253", "169.254.169.254", "169.254.170.2", "fd00:ec2::254",
	"instance-data", "metadata", "metadata.azure.com", "metadata.google.internal", "metadata.goog",
}

_speaks contains i if some i in lib.with_effect.network

_speaks contains i if some i in lib.with_flag.socket

deny contains {"command": i, "msg": $"{host} hands out this machine's credentials"} if {
	some i in _speaks
	some host in input.commands[i].hosts
	host in _services
}
