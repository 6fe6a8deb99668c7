# METADATA
# title: Change of credentials
# description: Writes, replaces or deletes keys, tokens or password stores outside the workspace.
# custom:
#   severity: critical
#   remediation: Make keys for the work at hand in the workspace, for example ssh-keygen -f ./deploy_key.
#   examples:
#     - rm ~/.ssh/id_rsa
#     - echo k > ~/.aws/credentials
#     - shred -u ~/.netrc
#   lookalikes:
#     - cp .env.example .env
#     - cat ~/.ssh/id_rsa.pub
package sallyport.rules.paths.credentials_write

import data.sallyport.lib

# A key that this text made in a granted place is its own.
_own(p) if {
	p.permission == "write"
	"generated_here" in p.labels
}

deny contains {"path": i, "msg": $"{p.path} holds credentials"} if {
	some i in lib.in_zone.credential
	p := input.paths[i]
	p.access in {"write", "delete"}
	not "metadata" in p.labels
	not _own(p)
}

deny contains {"path": i, "msg": $"credentials lie below {p.path}"} if {
	some i in lib.with_label.contains_credential
	p := input.paths[i]
	p.access == "delete"
	not p.zone in {"credential", "workspace", "temporary"}
}
