# METADATA
# title: Read of the password database
# description: Reads the files with the machine's password hashes or its rules for changing users (sudoers).
# custom:
#   severity: critical
#   remediation: Ask getent passwd for account names; password hashes are nobody's business.
#   examples:
#     - cat /etc/shadow
#     - cp /etc/gshadow ./x
#     - grep root /etc/sudoers
#   lookalikes:
#     - cat /etc/passwd
#     - getent passwd root
#     - grep -rn shadow src
#     - ls -l /etc/shadow
package sallyport.rules.paths.auth_database

import data.sallyport.lib

deny contains {"path": i, "msg": $"{p.path} holds the passwords or rights of users"} if {
	some i in lib.with_label.auth_database
	p := input.paths[i]
	p.access == "read"
	not lib.with_label.metadata[i]
}
