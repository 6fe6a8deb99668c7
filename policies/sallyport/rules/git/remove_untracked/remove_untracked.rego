# METADATA
# title: Untracked files removed
# description: git clean deletes files that no commit holds.
# custom:
#   severity: high
#   remediation: Look with git clean -n first; delete by name, or keep the files with git stash push --include-untracked.
#   examples:
#     - git clean -f
#     - git clean -xfd
#   lookalikes:
#     - git clean -n
#     - git clean --dry-run -xfd
#     - git status --ignored
package sallyport.rules.git.remove_untracked

import data.sallyport.lib

deny contains {"command": i} if {
	some i in lib.with_flag.removes_untracked
	not lib.with_flag.dry_run[i]
	not lib.started
}
