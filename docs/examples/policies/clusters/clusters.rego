# METADATA
# title: Changes go to our clusters alone
# description: |
#   Options, variables and kubeconfig files together choose the cluster, the namespace and the user of kubectl,
#   helm and their like. Each must be on a list. Where a text switches the context, or writes a kubeconfig, each
#   choice that may be in force counts.
# custom:
#   severity: high
#   remediation: Name one of our contexts and a namespace by --context and --namespace.
#   examples:
#     - kubectl --context production delete deployment web
#     - kubectl delete deployment web --context="$(cat context)"
#     - helm --kube-context production uninstall web
#     - HELM_KUBECONTEXT=production helm uninstall web
#     - KUBECONFIG=production.yaml kubectl delete deployment web
#     - kubectl --server https://prod.example.com:6443 delete deployment web
#   lookalikes:
#     - kubectl --context production get pods
#     - echo kubectl --context production delete deployment web
package custom.kube.clusters

import data.custom.clusters as lists

deny contains {"command": i, "msg": $"{part} {k[part].value} is none of ours"} if {
	some i, c in _changes
	some k in c.kube
	some part, names in lists.allowed
	k[part].certainty == "exact"
	not k[part].value in names
}

ask contains {"command": i, "msg": $"the {part} of {c.name} is not known"} if {
	some i, c in _changes
	some k in c.kube
	some part, _ in lists.allowed
	k[part].certainty != "exact"
}

_changes := {i: c |
	some i, c in input.commands
	count(c.kube) > 0
	not c.subcommand in lists.reads
}
