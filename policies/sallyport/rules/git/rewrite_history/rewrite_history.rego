# METADATA
# title: History rewritten, or its reflog deleted
# description: Rewrites many commits at once, or deletes the records by which git could bring old ones back.
# custom:
#   severity: high
#   remediation: Make a branch that keeps the old state first, and change single commits (git revert, git commit --amend).
#   examples:
#     - git filter-branch --tree-filter 'rm -f secret.txt' HEAD
#     - git reflog expire --expire=now --all
#     - git gc --prune=now
#   lookalikes:
#     - git reflog
#     - git gc
#     - git rebase main
package sallyport.rules.git.rewrite_history

import data.sallyport.lib

deny contains {"command": i} if {
	some i in lib.with_flag.rewrites_history
	not lib.started
}
