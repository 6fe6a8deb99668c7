# METADATA
# title: So many deployments an hour
# description: >-
#   Deployments are counted by the hour, those in flight included: of several at once no more pass than the
#   limit allows.
# custom:
#   severity: medium
#   remediation: Wait, and put several changes into one deployment.
#   lookalikes:
#     - helm list
package custom.sessions.deploy_limit

import data.custom.deploy_limits as limits
import data.sallyport.session

deny contains {"command": i, "msg": $"{_before} deployments within {limits.seconds} s are enough"} if {
	some i in _deployments
	_before >= limits.most
}

# A request counts as one.
deny contains {"command": i, "msg": "a text deploys once"} if {
	some i in _deployments
	count(_deployments) > 1
}

# Between many others, deployments may be among the requests that the input leaves out.
ask contains {"command": i, "msg": "how much was deployed before is not known"} if {
	some i in _deployments
	not session.complete(limits.seconds)
}

_before := session.count(_deployed, limits.seconds)

_deployed := {"commands": limits.commands, "state": {"deciding", "running", "ended"}}

_deployments := {i |
	some i, c in input.commands
	concat(" ", [c.name, c.subcommand]) in limits.commands
}
