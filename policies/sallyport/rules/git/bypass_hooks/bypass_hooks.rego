# METADATA
# title: Hooks left out
# description: The project's own checks do not run before this commit or push. Said and recorded.
# custom:
#   severity: low
#   remediation: Mend what the hook complains about instead of leaving it out.
#   examples:
#     - git commit --no-verify -m x
#     - git push --no-verify
#   lookalikes:
#     - git commit -m 'no verify'
#     - git push
package sallyport.rules.git.bypass_hooks

import data.sallyport.lib

warn contains {"command": i} if some i in lib.with_flag.bypasses_hooks
