# METADATA
# title: Push that overwrites history
# description: >-
#   A forced push throws away commits that others have pushed. With --force-with-lease git refuses to
#   overwrite unseen ones.
# custom:
#   severity: high
#   remediation: Use git push --force-with-lease, or push to a branch of your own.
#   examples:
#     - git push --force
#     - git push -f origin main
#     - git push origin +main
#     - git -C . push -f
#   lookalikes:
#     - git push
#     - git push --force-with-lease origin topic
#     - git commit -m 'never push --force'
package sallyport.rules.git.force_push

import data.sallyport.lib

deny contains {"command": i} if {
	some i in lib.with_flag.force_push
	not lib.with_flag.dry_run[i]
}
