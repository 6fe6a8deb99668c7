# METADATA
# title: Change of sallyport itself
# description: >-
#   Changes, moves or deletes sallyport's own program, configuration, policies or audit log. They may be read: an agent may know
#   the rules it lives by.
# custom:
#   severity: critical
#   remediation: Ask the operator to change the configuration or the policies.
#   examples:
#     - rm -f {home}/.config/sallyport/config.yaml
#     - 'echo "mode: monitor" > {home}/.config/sallyport/config.yaml'
#     - mv {home}/.config/sallyport old
#   lookalikes:
#     - cat {home}/.config/sallyport/config.yaml
#     - echo sallyport > notes.txt
package sallyport.rules.paths.self

import data.sallyport.lib

_changing := {"write", "delete"}

deny contains {"path": i, "msg": $"{p.path} belongs to sallyport"} if {
	some i in lib.in_zone.self
	p := input.paths[i]
	p.access in _changing
}

deny contains {"path": i, "msg": $"files of sallyport lie below {p.path}"} if {
	some i in lib.with_label.contains_self
	p := input.paths[i]
	p.zone != "self"
	p.access in _changing
}

deny contains {"command": i, "msg": "this changes what holds for sallyport itself"} if some i in lib.with_flag.self_control

# Who has the key of the audit log can sign another history, and who has a token can be taken for this machine.
deny contains {"path": i, "msg": $"{input.paths[i].path} is a key of sallyport itself"} if {
	some i in lib.with_label.self_key
	input.paths[i].access == "read"
}
