# METADATA
# title: Who is refused again and again stops
# description: >-
#   An agent that tries one way after the other around a rule is looking for a gap. After some refusals
#   within some minutes nothing runs until it was quiet for that time.
# custom:
#   severity: medium
#   remediation: Stop, and tell a person your goal and the rule that is in the way.
#   lookalikes:
#     - ls
package custom.sessions.refusals

import data.custom.refusal_limits as limits
import data.sallyport.session

deny contains {"msg": $"{_refused} requests were refused within {limits.seconds} s"} if {
	_refused >= limits.most
}

# Between many others, refusals may be among the requests that the input leaves out.
ask contains {"msg": $"{input.session.counts.deny} requests were denied in this session"} if {
	_refused < limits.most
	not session.complete(limits.seconds)
	input.session.counts.deny >= limits.most
}

_refused := session.count({"state": {"refused"}}, limits.seconds)
