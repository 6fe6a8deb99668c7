# METADATA
# title: Uncommitted changes discarded
# description: Overwrites changes in the working tree, or drops a stash, with no way back.
# custom:
#   severity: high
#   remediation: Keep the changes with git stash push or a commit on a branch, then go on.
#   examples:
#     - git reset --hard
#     - git checkout -- .
#     - git restore src/main.go
#     - git stash drop
#     - env -i git reset --hard
#   lookalikes:
#     - git reset --soft HEAD~1
#     - git checkout -b topic
#     - git restore --staged src/main.go
#     - git stash push
package sallyport.rules.git.discard_changes

import data.sallyport.lib

deny contains {"command": i} if {
	some i in lib.with_flag.discards_changes
	not lib.started
}
