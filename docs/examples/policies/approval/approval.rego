# METADATA
# title: Two for production
# description: |
#   What changes production needs two: the agent that asks, and a person who approves. ask puts the question to the
#   person at the client, and the answer is on record. From a terminal of sallyport's own the same person would ask
#   and approve, so there it is refused.
# custom:
#   severity: high
#   remediation: Have an agent ask for it through an MCP client, where another person approves.
package custom.approval.production

import data.custom.production as lists
import data.sallyport.lib

ask contains {"command": i, "msg": $"{c.name} changes production: approve only what you have read"} if {
	some i, c in _changes
	input.subject.client.name != "sallyport"
}

deny contains {"command": i, "msg": "who asks may not approve"} if {
	some i, _ in _changes
	input.subject.client.name == "sallyport"
}

_changes[i] := c if {
	some i, c in lib.commands(lists.tools)
	some word in c.argv
	word in lists.names
}

# The context of kubectl and helm stands in an option, a variable or a file.
_changes[i] := c if {
	some i, c in lib.commands(lists.tools)
	some k in c.kube
	k.context.value in lists.names
}

# Which of its targets a command means may not be known.
_changes[i] := c if {
	some i, c in lib.commands(lists.tools)
	c.certainty != "exact"
}
