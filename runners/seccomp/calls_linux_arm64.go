package seccomp

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// olderCalls are those of NoSetID that only some architectures have.
func olderCalls() []Rule { return nil }
