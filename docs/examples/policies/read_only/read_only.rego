# METADATA
# title: Look, and change nothing
# description: |
#   In sessions that are for looking, nothing is written or deleted, nothing leaves, and nothing of the system is
#   touched. What a command does that is not known is asked about. The profile readonly does the same for a whole
#   configuration.
# custom:
#   severity: medium
#   remediation: Say what you would change, and leave it to a session that may.
package custom.sessions.read_only

import data.custom.read_only as lists
import data.sallyport.lib

deny contains {"path": p, "msg": $"{path.access} of {path.raw} in a session that only looks"} if {
	_looking
	some p, path in lib.paths({"write", "delete"})
	not "null_device" in path.labels
	not "std_device" in path.labels
}

deny contains {"command": i, "msg": $"{effect} in a session that only looks"} if {
	_looking
	some effect in {"privilege", "process", "system"}
	some i in lib.with_effect[effect]
}

deny contains {"command": i, "msg": "something would leave, in a session that only looks"} if {
	_looking
	some i in lib.with_flag.uploads
}

ask contains {"command": i, "msg": $"what {c.program} does is not known"} if {
	_looking
	some i, c in input.commands
	not c.known
	c.name != ""
}

ask contains {"command": i, "msg": "what this would run is not known"} if {
	_looking
	some i in lib.with_certainty.unknown
}

_looking if {
	some prefix in lists.sessions
	startswith(input.subject.session, prefix)
}
