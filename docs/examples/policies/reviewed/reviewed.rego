# METADATA
# title: Only the approved plan is applied
# description: >-
#   A person approves a plan. It is good for one application, and for none once a file was written since.
# custom:
#   severity: high
#   remediation: Run the plan alone, let a person approve it, then apply it without a change in between.
#   examples:
#     - terraform plan
#     - terraform apply
#     - terraform -chdir=infra destroy -auto-approve
#   lookalikes:
#     - terraform fmt
#     - terraform validate
package custom.sessions.reviewed

import data.custom.reviewed_lists as lists
import data.sallyport.session

ask contains {"command": i, "msg": "approve the plan if you have read what it changes"} if {
	some i in _named(lists.review)
}

deny contains {"command": i, "msg": "no plan was approved since the last change"} if {
	some i in _named(lists.act)
	not _reviewed
}

deny contains {"command": i, "msg": "more than the application stands in this text"} if {
	some i in _named(lists.act)
	count(input.commands) > 1
}

_reviewed if {
	session.after(_approved, {"commands": lists.act})
	session.after(_approved, {"effects": {"write", "delete"}})
}

_approved := {"commands": lists.review, "approval": {"granted"}}

_named(names) := {i |
	some i, c in input.commands
	concat(" ", [c.name, c.subcommand]) in names
}
