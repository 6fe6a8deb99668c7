# METADATA
# title: Infrastructure changed without a review
# description: >-
#   Changes a cluster or a cloud without showing the change first, takes capacity away, or gives somebody
#   rights there. Services that others rely on may be gone before anybody has seen it.
# custom:
#   severity: high
#   remediation: Show the plan, the diff or the dry run, and let a person apply it.
#   examples:
#     - terraform apply -auto-approve
#     - pulumi up --yes
#     - cdk deploy --require-approval never
#     - kubectl drain node1
#     - kubectl scale deploy/web --replicas=0
#     - kubectl delete deployment web
#     - kubectl create clusterrolebinding x --clusterrole=cluster-admin --user=u
#     - aws s3api put-bucket-acl --bucket b --acl public-read
#     - aws iam attach-user-policy --user-name u --policy-arn p
#     - gcloud projects add-iam-policy-binding p --member=allUsers --role=roles/viewer
#   lookalikes:
#     - terraform plan
#     - terraform apply plan.out
#     - pulumi preview
#     - cdk diff
#     - kubectl get pods
#     - kubectl delete pod web-1
#     - kubectl scale deploy/web --replicas=3
#     - kubectl apply -f web.yaml --dry-run=server
#     - aws ec2 describe-instances
#     - gcloud compute instances list
package sallyport.rules.system.infrastructure

import data.sallyport.lib

_waits contains i if {
	some i in lib.with_flag.unreviewed
	not lib.with_flag.dry_run[i]
}

ask contains {"command": i} if some i in _waits

ask contains {"command": i, "msg": "this gives rights, or makes something public"} if {
	some i in lib.with_flag.grants_access
	not lib.with_flag.dry_run[i]
	not i in _waits
}
