# METADATA
# title: An agent does what it is for
# description: |
#   Each agent has a list of the effects that its commands may have, and of the commands that it may not use at
#   all. An agent that is on no list may do nothing.
# custom:
#   severity: high
#   remediation: Leave this to an agent that is for it.
package custom.agents.rights

import data.custom.agent_rights as lists

deny contains {"msg": $"the agent {input.subject.agent} is on no list"} if not lists.agents[input.subject.agent]

deny contains {"command": i, "msg": $"{c.name} would {effect}, which is not for {input.subject.agent}"} if {
	rights := lists.agents[input.subject.agent]
	some i, c in input.commands
	some effect in c.effects
	not effect in rights.effects
}

deny contains {"command": i, "msg": $"{c.name} is not for {input.subject.agent}"} if {
	rights := lists.agents[input.subject.agent]
	some i, c in input.commands
	c.name in rights.without
}

# What a command does that the command table does not know is anybody's guess.
ask contains {"command": i, "msg": $"what {c.name} does is not known"} if {
	rights := lists.agents[input.subject.agent]
	count(rights.effects) < count(lists.all)
	some i, c in input.commands
	not c.known
}

# A file tool has no command: its paths say what it does.
deny contains {"path": p, "msg": $"to {path.access} files is not for {input.subject.agent}"} if {
	rights := lists.agents[input.subject.agent]
	some p, path in input.paths
	path.command == -1
	not path.access in rights.effects
}
