# METADATA
# title: Branch, tag or remote reference deleted
# description: The commits that only this reference holds are lost with it.
# custom:
#   severity: medium
#   remediation: Use git branch -d, which refuses to delete unmerged branches, or keep the reference.
#   examples:
#     - git branch -D topic
#     - git push origin --delete topic
#     - git tag -d v1.0.0
#   lookalikes:
#     - git branch -d topic
#     - git branch --list
#     - git tag -l
package sallyport.rules.git.delete_ref

import data.sallyport.lib

ask contains {"command": i} if some i in lib.with_flag.deletes_ref
