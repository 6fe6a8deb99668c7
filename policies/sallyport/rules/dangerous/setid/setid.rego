# METADATA
# title: Program that runs with its owner's rights
# description: Sets the set-user-ID or set-group-ID bit, or gives a program capabilities, so that whoever starts it gains rights.
# custom:
#   severity: critical
#   remediation: Use an ordinary mode such as 755; a program that needs rights is the operator's to install.
#   examples:
#     - chmod u+s ./helper
#     - chmod 4755 ./helper
#     - install -m 4755 /bin/sh ./sh
#     - setcap cap_setuid+ep ./helper
#   lookalikes:
#     - chmod 755 ./helper
#     - chmod u+x ./helper
#     - install -m 755 helper ./bin/helper
package sallyport.rules.dangerous.setid

import data.sallyport.lib

deny contains {"command": i} if some i in lib.with_flag.setid
