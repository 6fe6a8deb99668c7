# METADATA
# title: Write to a disk or to memory
# description: >-
#   Writes to a disk, a partition or the machine's memory, past every file system, or makes a new file system on one.
# custom:
#   severity: critical
#   remediation: Write to an ordinary file in the workspace, for example dd of=./disk.img.
#   examples:
#     - mkfs.ext4 /dev/sda1
#     - dd if=/dev/zero of=/dev/sda bs=1M
#     - cat image.iso > /dev/nvme0n1
#     - wipefs -a /dev/sdb
#   lookalikes:
#     - dd if=/dev/zero of=./test.img bs=1M count=10
#     - echo done > /dev/null
#     - date +%Y-%m-dd
#     - lsblk /dev/sda
package sallyport.rules.dangerous.disk_write

import data.sallyport.lib

_by_flag contains i if some i in lib.with_flag.disk_write

_by_flag contains i if some i in lib.with_flag.formats_disk

_devices contains i if some i in lib.with_label.disk_device

_devices contains i if some i in lib.with_label.memory_device

deny contains {"command": i} if some i in _by_flag

deny contains {"path": i, "msg": $"{p.path} is a device"} if {
	some i in _devices
	p := input.paths[i]
	p.access in {"write", "delete"}
	not p.command in _by_flag
}
