# METADATA
# title: Write outside the granted places
# description: >-
#   A command writes or deletes where no root of the operator's configuration grants anything. Temporary
#   directories are free. For file tools there is paths/tool_outside.
# custom:
#   severity: high
#   remediation: Write below the workspace or a temporary directory, or ask the operator to grant the place (paths).
#   examples:
#     - echo x > /etc/motd
#     - cp a.txt ~/elsewhere/a.txt
#     - tee /usr/local/bin/tool < tool
#     - cd /opt && touch f
#     - sed -i s/a/b/ /etc/hosts
#   lookalikes:
#     - echo x > notes.txt
#     - echo x > /tmp/notes.txt
#     - ls /etc > list.txt
#     - echo x > /dev/null
#     - echo oops >&2
package sallyport.rules.paths.write_outside

import data.sallyport.lib

# Temporary directories are free; the others have rules of their own.
_elsewhere := {"temporary", "self", "credential"}

deny contains {"path": i, "msg": $"{p.path} lies outside the granted places"} if {
	some i in lib.changes
	p := input.paths[i]
	p.permission == "none"
	p.certainty != "unknown"
	p.source != "tool"
	not p.zone in _elsewhere
	not lib.with_label.null_device[i]
	not lib.with_label.std_device[i]
}
