# METADATA
# title: Kernel module or setting changed
# description: Loads code into the kernel, changes its settings or replaces it.
# custom:
#   severity: critical
#   remediation: Leave the kernel to the operator.
#   examples:
#     - insmod ./x.ko
#     - sysctl -w kernel.sysrq=1
#     - kexec -e
#   lookalikes:
#     - lsmod
#     - sysctl kernel.hostname
#     - uname -r
package sallyport.rules.system.kernel

import data.sallyport.lib

deny contains {"command": i} if some i in lib.with_flag.kernel
