package bubblewrap

import (
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

const auditArch = unix.AUDIT_ARCH_AARCH64

// foreign has nothing to refuse: there is one ABI.
func foreign() []bpf.Instruction { return nil }

func deniedHere() []uint32 { return []uint32{unix.SYS_NFSSERVCTL} }

// modes are the calls that give a file its mode, and which argument that is.
func modes() map[uint32]int {
	return map[uint32]int{unix.SYS_FCHMOD: 1, unix.SYS_FCHMODAT: 2, unix.SYS_MKNODAT: 2}
}

// opens are the calls that may make a file, and which argument their flags are. The mode is the next.
func opens() map[uint32]int { return map[uint32]int{unix.SYS_OPENAT: 2} }
