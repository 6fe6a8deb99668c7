package bubblewrap

import (
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

const auditArch = unix.AUDIT_ARCH_X86_64

// foreign refuses the numbers of the x32 ABI, by which every rule here could be gone round.
func foreign() []bpf.Instruction {
	const x32 = 0x40000000
	return []bpf.Instruction{bpf.JumpIf{Cond: bpf.JumpLessThan, Val: x32, SkipTrue: 1}, errno(unix.ENOSYS)}
}

func deniedHere() []uint32 {
	return []uint32{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS_NFSSERVCTL,
		unix.SYS__SYSCTL}
}

// modes are the calls that give a file its mode, and which argument that is.
func modes() map[uint32]int {
	return map[uint32]int{
		unix.SYS_CHMOD: 1, unix.SYS_FCHMOD: 1, unix.SYS_FCHMODAT: 2, unix.SYS_CREAT: 1, unix.SYS_MKNOD: 1,
		unix.SYS_MKNODAT: 2,
	}
}

// opens are the calls that may make a file, and which argument their flags are. The mode is the next.
func opens() map[uint32]int { return map[uint32]int{unix.SYS_OPEN: 1, unix.SYS_OPENAT: 2} }
