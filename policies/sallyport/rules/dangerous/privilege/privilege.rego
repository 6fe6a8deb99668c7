# METADATA
# title: Command with another user's rights
# description: >-
#   sudo, su, doas, pkexec, run0, nsenter and the like. Allowed only where the environment is built so that
#   elevated commands stay inside it.
# custom:
#   severity: critical
#   remediation: Run the command without elevation, or ask the operator for an environment that allows it (docker-sudo).
#   examples:
#     - s\udo id
#     - env sudo -u root id
#     - doas ls
#     - su - -c id
#   lookalikes:
#     - "git commit -m 'drop sudo'"
#     - grep -n sudo README.md
#     - which su
#     - python su.py
package sallyport.rules.dangerous.privilege

import data.sallyport.lib

_elevating contains i if some i in lib.with_effect.privilege

deny contains {"command": i} if {
	not input.runner.elevated
	some i in _elevating
}

# Carried by something that is not in the list of commands itself.
deny contains {"command": i} if {
	not input.runner.elevated
	count(_elevating) == 0
	some i, c in input.commands
	c.elevated
}
