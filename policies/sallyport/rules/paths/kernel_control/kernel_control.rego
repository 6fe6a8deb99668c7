# METADATA
# title: Kernel control file or raw memory
# description: >-
#   Writes to a file that controls the kernel, or reads the memory of the machine or of another process.
# custom:
#   severity: critical
#   remediation: Leave the kernel's settings to the operator.
#   examples:
#     - echo b > /proc/sysrq-trigger
#     - echo 1 > /proc/sys/kernel/sysrq
#     - head -c 1M /dev/mem
#   lookalikes:
#     - cat /proc/cpuinfo
#     - cat /proc/meminfo
#     - cat /sys/class/net/lo/mtu
package sallyport.rules.paths.kernel_control

import data.sallyport.lib

deny contains {"path": i, "msg": $"{p.path} controls the kernel"} if {
	some i in lib.with_label.kernel_control
	p := input.paths[i]
	p.access in {"write", "delete"}
}

deny contains {"path": i, "msg": $"{p.path} is the memory of the machine"} if {
	some i in lib.with_label.memory_device
	p := input.paths[i]
	p.access == "read"
}
