//go:build amd64 || arm64

package bubblewrap

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data. Only the lower half of an argument is compared: the kernel reads no more of
// these.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
)

// Return values of a filter.
const (
	retKill  = 0x80000000 // the whole process
	retErrno = 0x00050000
	retAllow = 0x7fff0000
)

func errno(e unix.Errno) bpf.Instruction { return bpf.RetConstant{Val: retErrno | uint32(e)} }

const (
	setID = unix.S_ISUID | unix.S_ISGID
	// namespaces are the flags by which clone and unshare make new ones.
	namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID |
		unix.CLONE_NEWNET | unix.CLONE_NEWCGROUP | unix.CLONE_NEWTIME
)

// denied are system calls that no command needs and that have led out of sandboxes: access to other
// processes' memory, the user's keyrings, mounts, programs that the kernel runs for its callers.
func denied() []uint32 {
	return append(deniedHere(),
		unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_PIDFD_GETFD,
		unix.SYS_KCMP,
		unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT,
		unix.SYS_LOOKUP_DCOOKIE,
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_OPEN_TREE,
		unix.SYS_MOVE_MOUNT,
		unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
		unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT,
		unix.SYS_UNSHARE, unix.SYS_SETNS,
		unix.SYS_ACCT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_SYSLOG, unix.SYS_QUOTACTL,
		unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE,
		unix.SYS_DELETE_MODULE,
		unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME,
		unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_VHANGUP, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
	)
}

// absent are system calls that programs can do without when the kernel does not know them.
func absent() []uint32 {
	return []uint32{
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
		unix.SYS_CLONE3, // its flags lie in memory, where no filter sees them: programs fall back to clone
		// Likewise openat2, which can make a file with any mode. And fchmodat2 is chmod by another number.
		unix.SYS_OPENAT2, unix.SYS_FCHMODAT2,
	}
}

// filter is the program by which the kernel judges each system call in the sandbox. unixSockets lets
// commands make sockets of the family AF_UNIX.
func filter(unixSockets bool) ([]byte, error) {
	p := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1},
		bpf.RetConstant{Val: retKill}, // numbers mean something else there
		bpf.LoadAbsolute{Off: offNumber, Size: 4},
	}
	p = append(p, foreign()...)
	for _, n := range denied() {
		p = append(p, on(n, errno(unix.EPERM))...)
	}
	for _, n := range absent() {
		p = append(p, on(n, errno(unix.ENOSYS))...)
	}
	p = append(p, onBits(unix.SYS_CLONE, 0, namespaces)...)
	for n, arg := range modes() {
		p = append(p, onBits(n, arg, setID)...)
	}
	for n, arg := range opens() {
		p = append(p, onArg(n, arg,
			bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY,
				SkipTrue: 3}, // it has no mode
			bpf.LoadAbsolute{Off: uint32(offArgs + 8*(arg+1)), Size: 4},
			bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: setID, SkipTrue: 1}, errno(unix.EPERM))...)
	}
	p = append(p, keeper()...)
	p = append(p, tracing()...)
	p = append(p, terminals()...)
	p = append(p, sockets(unixSockets)...)
	p = append(p, bpf.RetConstant{Val: retAllow})
	raw, err := bpf.Assemble(p)
	if err != nil {
		return nil, fmt.Errorf("assemble system call filter: %w", err)
	}
	out := make([]byte, 0, 8*len(raw))
	for _, i := range raw {
		out = binary.NativeEndian.AppendUint16(out, i.Op)
		out = append(out, i.Jt, i.Jf)
		out = binary.NativeEndian.AppendUint32(out, i.K)
	}
	return out, nil
}

// on answers the call number n, which is in the accumulator and stays there.
func on(n uint32, answer ...bpf.Instruction) []bpf.Instruction {
	return append([]bpf.Instruction{bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: n, SkipTrue: uint8(len(answer))}},
		answer...)
}

// onArg looks at an argument of call n. The instructions that look end with an answer, or fall through
// to letting it pass: no later rule concerns the same call.
func onArg(n uint32, arg int, look ...bpf.Instruction) []bpf.Instruction {
	body := append([]bpf.Instruction{bpf.LoadAbsolute{Off: uint32(offArgs + 8*arg), Size: 4}}, look...)
	return on(n, append(body, bpf.RetConstant{Val: retAllow})...)
}

// onBits refuses call n where any of the bits is set in an argument.
func onBits(n uint32, arg int, bits uint32) []bpf.Instruction {
	return onArg(n, arg, bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: bits, SkipTrue: 1}, errno(unix.EPERM))
}

// keeper spares the supervisor, which is the first process: the kernel withholds signals from it that would
// end it unconditionally, and this filter those that would end it by default. Its own threads still stop each
// other (URG), as the runtime of Go does.
func keeper() []bpf.Instruction {
	const first = 1
	refuse := []bpf.Instruction{bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: first, SkipTrue: 1}, errno(unix.EPERM)}
	var p []bpf.Instruction
	for _, n := range []uint32{unix.SYS_KILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO,
		unix.SYS_PRLIMIT64, unix.SYS_PIDFD_OPEN, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER,
		unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR} {
		p = append(p, onArg(n, 0, refuse...)...)
	}
	p = append(p, onArg(unix.SYS_SETPRIORITY, 1, refuse...)...)
	return append(p, onArg(unix.SYS_TGKILL, 0,
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: first, SkipTrue: 3},
		bpf.LoadAbsolute{Off: offArgs + 8*2, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(unix.SIGURG), SkipTrue: 1},
		errno(unix.EPERM))...)
}

// tracing leaves the part of ptrace that the supervisor needs to hold a shell until it is marked: a child
// lets itself be traced, and is let go. Nothing else can be attached to, read or changed by that.
func tracing() []bpf.Instruction {
	return onArg(unix.SYS_PTRACE, 0,
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.PTRACE_TRACEME, SkipTrue: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.PTRACE_DETACH, SkipTrue: 1},
		errno(unix.EPERM),
	)
}

// terminals refuses to put characters into the input of a terminal.
func terminals() []bpf.Instruction {
	return onArg(unix.SYS_IOCTL, 1,
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.TIOCSTI, SkipTrue: 1}, errno(unix.EPERM),
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.TIOCLINUX, SkipTrue: 1}, errno(unix.EPERM),
	)
}

// sockets allows sockets that reach a network, and netlink, by which programs list networks. A socket of
// AF_UNIX would reach every listener on this machine: agents of keys, container engines, the desktop. Pairs
// of sockets (socketpair) reach nothing and are left alone.
func sockets(unixSockets bool) []bpf.Instruction {
	families := []uint32{unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}
	if unixSockets {
		families = append(families, unix.AF_UNIX)
	}
	var look []bpf.Instruction
	for _, f := range families {
		look = append(look, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: f, SkipTrue: 1}, bpf.RetConstant{Val: retAllow})
	}
	return onArg(unix.SYS_SOCKET, 0, append(look, errno(unix.EPERM))...)
}
