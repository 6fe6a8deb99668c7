package docker

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/moby/profiles/seccomp"
	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
)

// noSetUID is the default filter of system calls of a current engine, regardless of the age of the one in
// use, with one more rule: no file gets the set-user-id bit. Root in a container owns its files, and a file
// that it creates in a mounted place is one of the machine: that needs no capability at all.
//
// The set-group-id bit is left: packages set it on directories, where it has another meaning. Files in
// granted places lose it after each elevated command.
func noSetUID() (string, error) {
	p := seccomp.DefaultProfile()
	if p == nil {
		return "", fmt.Errorf("filter of system calls: there is no default one for this system")
	}
	ruled := map[string]bool{"openat2": true, "fchmodat2": true, "io_uring_setup": true, "io_uring_enter": true, "io_uring_register": true}
	var rules []*seccomp.Syscall
	for _, m := range modes() {
		ruled[m.call] = true
		allow := func(args ...specs.LinuxSeccompArg) {
			rules = append(rules, &seccomp.Syscall{LinuxSyscall: specs.LinuxSyscall{Names: []string{m.call}, Action: specs.ActAllow, Args: args}})
		}
		allow(unset(m.mode, unix.S_ISUID))
		if m.flags != none {
			allow(unset(m.flags, unix.O_CREAT|unix.O_TMPFILE&^unix.O_DIRECTORY)) // without these there is no mode
		}
	}
	for _, s := range p.Syscalls {
		if s.Action == specs.ActAllow {
			s.Names = slices.DeleteFunc(s.Names, func(name string) bool { return ruled[name] })
		}
	}
	p.Syscalls = slices.DeleteFunc(p.Syscalls, func(s *seccomp.Syscall) bool { return len(s.Names) == 0 })
	// A mode in memory cannot be looked at. Programs take the older call where this one is not there.
	absent := uint(unix.ENOSYS)
	p.Syscalls = append(append(p.Syscalls, rules...), &seccomp.Syscall{LinuxSyscall: specs.LinuxSyscall{
		Names: []string{"openat2", "fchmodat2"}, Action: specs.ActErrno, ErrnoRet: &absent,
	}})
	text, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("filter of system calls: %w", err)
	}
	return string(text), nil
}

// modeOf says in which argument a system call has a mode, and in which the flags that say whether it counts.
type modeOf struct {
	call        string
	mode, flags uint
}

const none = ^uint(0)

func modes() []modeOf {
	return []modeOf{
		{"chmod", 1, none}, {"fchmod", 1, none}, {"fchmodat", 2, none}, {"creat", 1, none}, {"mknod", 1, none}, {"mknodat", 2, none},
		{"open", 2, 1}, {"openat", 3, 2},
	}
}

// unset is true where none of some bits is set in an argument.
func unset(arg uint, bits uint64) specs.LinuxSeccompArg {
	return specs.LinuxSeccompArg{Index: arg, Value: bits, ValueTwo: 0, Op: specs.OpMaskedEqual}
}
