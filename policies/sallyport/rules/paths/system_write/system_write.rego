# METADATA
# title: Write to the operating system
# description: >-
#   Changes files of the operating system where a wide root grants it. Deletes, account files and the loader's configuration are refused;
#   for the rest a person is asked.
# custom:
#   severity: high
#   remediation: Install below the workspace (a virtual environment, a prefix, a local bin directory), or ask the operator.
#   examples: []
#   lookalikes:
#     - cat /etc/hosts
#     - cp /etc/hosts hosts.txt
#     - touch app.conf
package sallyport.rules.paths.system_write

import data.sallyport.lib

_refused := {"account_database", "auth_database", "loader_config"}

# Where no root grants the place, paths/write_outside speaks.
_granted contains i if {
	some i in lib.in_zone.system
	i in lib.changes
	input.paths[i].permission == "write"
	not lib.with_label.null_device[i]
	not lib.with_label.std_device[i]
}

_worst contains i if {
	some i in _granted
	some label in input.paths[i].labels
	label in _refused
}

_worst contains i if {
	some i in _granted
	p := input.paths[i]
	p.access == "delete"
	"system_root" in p.labels
}

deny contains {"path": i, "msg": $"{input.paths[i].path} belongs to the operating system"} if some i in _worst

ask contains {"path": i, "msg": $"{input.paths[i].path} belongs to the operating system"} if {
	some i in _granted
	not i in _worst
}
