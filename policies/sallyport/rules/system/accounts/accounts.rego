# METADATA
# title: User accounts or their passwords changed
# description: Adds, removes or changes users, groups, passwords or the rules for changing users (sudoers).
# custom:
#   severity: critical
#   remediation: Work as the user you are.
#   examples:
#     - useradd -m eve
#     - passwd root
#     - usermod -aG docker eve
#     - visudo
#   lookalikes:
#     - id
#     - getent passwd root
#     - grep -n useradd Dockerfile
package sallyport.rules.system.accounts

import data.sallyport.lib

deny contains {"command": i} if some i in lib.with_flag.accounts
