# METADATA
# title: Write to the operating system
# description: >-
#   Changes files of the operating system where a wide root grants it. Account files, the loader's
#   configuration and deletes of whole trees are refused; for other essential files a person is asked; new
#   files below /usr/local, /opt and the like are a warning.
# custom:
#   severity: high
#   remediation: Install below the workspace (a virtual environment, a prefix, a local bin directory), or ask the operator.
#   config:
#     paths: [{path: /, access: write}]
#   examples:
#     - echo x > /etc/motd
#     - echo user >> /etc/passwd
#     - rm /usr/bin/env
#   lookalikes:
#     - cp /etc/hosts hosts.txt
#     - echo x > /usr/local/etc/app.conf
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
	p.recursive
	"system_root" in p.labels
}

# Files of the operating system, and all deletions. Places such as /usr/local, /opt or /var/www are
# for programs and data that are added to it.
_essential(p) if {
	some label in p.labels
	label in {"procfs", "sysfs", "system_root"}
}

_essential(p) if {
	p.access == "delete"
	not _made(p.labels)
}

_made(labels) if {
	some label in labels
	label in {"cache", "generated_here"}
}

deny contains {"path": i, "msg": $"{input.paths[i].path} belongs to the operating system"} if some i in _worst

ask contains {"path": i, "msg": $"{p.path} belongs to the operating system"} if {
	some i in _granted
	not i in _worst
	p := input.paths[i]
	_essential(p)
}

warn contains {"path": i, "msg": $"{p.path} belongs to the operating system"} if {
	some i in _granted
	not i in _worst
	p := input.paths[i]
	not _essential(p)
}
