# METADATA
# title: Git hooks skipped
# description: The project's own checks do not run before this commit or push. Said and recorded.
# custom:
#   severity: low
#   remediation: Fix the problem that the hook reports, and keep the hook.
#   examples:
#     - git commit --no-verify -m x
#     - git push --no-verify
#   lookalikes:
#     - git commit -m 'no verify'
#     - git push
package sallyport.rules.git.bypass_hooks

import data.sallyport.lib

warn contains {"command": i} if some i in lib.with_flag.bypasses_hooks
