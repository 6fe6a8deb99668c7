# METADATA
# title: File system mounted or unmounted
# description: A mount can bring any place of the machine below a granted root, or take one away.
# custom:
#   severity: high
#   remediation: Copy the files you need into the workspace.
#   examples:
#     - mount --bind / ./all
#     - umount /home
#     - mount -o loop disk.img ./m
#   lookalikes:
#     - mount
#     - df -h
#     - findmnt
package sallyport.rules.system.mount

import data.sallyport.lib

ask contains {"command": i} if some i in lib.with_flag.mount
