# METADATA
# title: Login keys changed
# description: A key in authorized_keys lets its owner log in to this account; without the file nobody can.
# custom:
#   severity: critical
#   remediation: Ask the operator to grant or withdraw access.
#   examples:
#     - echo "ssh-ed25519 AAAA x" >> ~/.ssh/authorized_keys
#     - rm ~/.ssh/authorized_keys
#     - ssh-copy-id -i k.pub localhost
#   lookalikes:
#     - cat ~/.ssh/id_ed25519.pub
#     - ssh-keygen -t ed25519 -N "" -f ./key
package sallyport.rules.system.authorized_keys

import data.sallyport.lib

deny contains {"path": i, "msg": $"{p.path} lists the keys that may log in"} if {
	some i in lib.with_label.authorized_keys
	p := input.paths[i]
	p.access in {"write", "delete"}
}

deny contains {"command": i} if some i in lib.named["ssh-copy-id"]
