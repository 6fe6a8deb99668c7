package docker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/moby/profiles/seccomp"
	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/identity"
	"github.com/sallyport-dev/sallyport/runners/local"
	"github.com/sallyport-dev/sallyport/runners/looks"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// detach unmounts the mounts of debootstrap that remain when it is killed: nothing may be removed through
// them.
func detach(root string) {
	for _, dir := range []string{"proc", "sys", "dev/pts", "dev/shm", "dev"} {
		_ = unix.Unmount(
			filepath.Join(root, dir), unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW) // an error: nothing is mounted there
	}
}

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
	ruled := map[string]bool{"openat2": true, "fchmodat2": true, "io_uring_setup": true,
		"io_uring_enter": true, "io_uring_register": true}
	var rules []*seccomp.Syscall
	for _, m := range modes() {
		ruled[m.call] = true
		allow := func(args ...specs.LinuxSeccompArg) {
			rules = append(rules, &seccomp.Syscall{LinuxSyscall: specs.LinuxSyscall{Names: []string{m.call},
				Action: specs.ActAllow, Args: args}})
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
		{"chmod", 1, none}, {"fchmod", 1, none}, {"fchmodat", 2, none}, {"creat", 1, none},
		{"mknod", 1, none}, {"mknodat", 2, none},
		{"open", 2, 1}, {"openat", 3, 2},
	}
}

// unset is true where none of some bits is set in an argument.
func unset(arg uint, bits uint64) specs.LinuxSeccompArg {
	return specs.LinuxSeccompArg{Index: arg, Value: bits, ValueTwo: 0, Op: specs.OpMaskedEqual}
}

// machine names this machine and its namespace of processes: in a container the same numbers mean
// other processes.
func machine() string {
	id, _ := os.ReadFile("/etc/machine-id")
	name, _ := os.Hostname()
	pids, _ := os.Readlink("/proc/self/ns/pid")
	if pids == "" || len(id) == 0 && name == "" {
		return ""
	}
	return digest(string(id), name, pids)
}

// startedAt is when a process started: the boot, and ticks since then; "" for one that is not there.
func startedAt(pid int) string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// The name of the program stands in parentheses and may hold anything; field 22 is the 20th behind it.
	text := string(stat)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return ""
	}
	return digest(string(boot)) + ":" + fields[19]
}

// gone reports whether a process has ended, even if its id is in use again.
func gone(pid int, started string) bool {
	if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return true
	}
	now := startedAt(pid)
	return now != "" && started != "" && now != started
}

// hostView is this machine's file system with the permissions of a user of the container, until it is freed.
func hostView(u wire.User) (_ facts.FS, free func(), _ error) {
	if os.Geteuid() == 0 {
		rights, err := identity.NewRights(identity.User{UID: u.UID, GID: u.GID, Groups: u.Groups})
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %w", looks.ErrAsk, err)
		}
		return local.FS(rights), rights.Close, nil
	}
	groups, err := os.Getgroups()
	if err != nil || u.UID != os.Geteuid() || u.GID != os.Getegid() || len(u.Groups) > 0 {
		return nil, nil, errors.Join(looks.ErrAsk, err)
	}
	return fewer{local.FS(nil), u, slices.DeleteFunc(groups,
		func(g int) bool { return g == u.GID })}, func() {}, nil
}

// fewer shows files to a user with fewer groups in the container than here: an answer that depends on one of
// the other groups is ErrAsk.
type fewer struct {
	facts.FS
	user   wire.User
	groups []int
}

// tell returns ErrAsk where a right on a path, or on one around it, comes from such a group.
func (f fewer) tell(p string) error {
	for ; path.Dir(p) != "/proc/self"; p = path.Dir(p) { // where the mounted part begins: see looks
		if info, err := os.Stat(p); err == nil {
			st, ok := info.Sys().(*syscall.Stat_t)
			mode := info.Mode().Perm()
			if !ok || int(st.Uid) != f.user.UID && slices.Contains(f.groups, int(st.Gid)) &&
				mode>>3&7&^(mode&7) != 0 {
				return looks.ErrAsk
			}
		}
		if p == "/" {
			break
		}
	}
	return nil
}

func (f fewer) Lstat(p string) (fs.FileInfo, error) {
	if err := f.tell(path.Dir(p)); err != nil {
		return nil, err
	}
	return f.FS.Lstat(p)
}

func (f fewer) ReadLink(p string) (string, error) {
	if err := f.tell(path.Dir(p)); err != nil {
		return "", err
	}
	return f.FS.ReadLink(p)
}

func (f fewer) ReadDir(p string) ([]fs.DirEntry, error) {
	if err := f.tell(p); err != nil {
		return nil, err
	}
	return f.FS.ReadDir(p)
}

func (f fewer) ReadFile(p string, limit int) ([]byte, bool, error) {
	if err := f.tell(p); err != nil {
		return nil, false, err
	}
	return f.FS.ReadFile(p, limit)
}
