# METADATA
# title: Stored data destroyed
# description: Drops a database, a volume, a bucket, a namespace, a backup or the like. Refused where it lies beyond this machine; asked about where it is local.
# custom:
#   severity: critical
#   remediation: Make a backup, look with the dry run of the tool, and let a person do the deleting.
#   examples:
#     - dropdb production
#     - docker volume rm data
#     - terraform destroy -auto-approve
#     - kubectl delete ns --all
#     - psql -c "DROP DATABASE app"
#   lookalikes:
#     - psql -c "SELECT 1"
#     - docker volume ls
#     - terraform plan
#     - kubectl get ns
package sallyport.rules.system.data_destruction

import data.sallyport.lib

_destroys contains i if {
	some i in lib.with_flag.destroys_data
	not lib.with_flag.dry_run[i]
}

deny contains {"command": i} if {
	some i in _destroys
	lib.with_flag.remote[i]
}

ask contains {"command": i} if {
	some i in _destroys
	not lib.with_flag.remote[i]
}
