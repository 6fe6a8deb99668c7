# METADATA
# title: Disk, memory or processor filled
# description: Writes without end or very much, or loads the machine on purpose. Others on it stand still.
# custom:
#   severity: high
#   remediation: Say how much with head -c or count=, or for how long with timeout.
#   examples:
#     - yes > f
#     - cat /dev/zero > f
#     - fallocate -l 500G f
#     - dd if=/dev/zero of=f bs=1M
#     - stress --vm 8
#   lookalikes:
#     - yes | head -5 > f
#     - fallocate -l 10M f
#     - dd if=/dev/zero of=f bs=1M count=10
#     - head -c 16 /dev/urandom > f
#     - timeout 5 yes > /dev/null
package sallyport.rules.system.exhaustion

import data.sallyport.lib

ask contains {"command": i} if some i in lib.with_flag.exhausts
