//go:build linux && (amd64 || arm64)

package bubblewrap

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mounted is the kernel's description of a mount (proc_pid_mountinfo(5)).
type mounted struct {
	id     string
	device string // major:minor
	root   string // which part of the file system is mounted
	at     string
	write  bool
}

// mountsOf lists the mounts that a process sees.
func mountsOf(pid string) ([]mounted, error) {
	b, err := os.ReadFile("/proc/" + pid + "/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("read mounts: %w", err)
	}
	var out []mounted
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) < 6 {
			return nil, fmt.Errorf("read mounts of %s: %.100q is not a line of mountinfo", pid, line)
		}
		write := !strings.HasPrefix(f[5]+",", "ro,")
		out = append(out, mounted{f[0], f[2], unescape(f[3]), unescape(f[4]), write})
	}
	return out, nil
}

// unescape undoes the octal numbers by which the kernel writes blanks.
func unescape(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				out.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// verify compares the sandbox's mounts with the plan. Between the check of a path and its mount somebody may
// have put a link there.
func (e *Environment) verify(v *view) error {
	inside, err := mountsOf(strconv.Itoa(e.init))
	if err != nil {
		return fmt.Errorf("start sandbox: %w", err)
	}
	top := map[string]mounted{}
	for _, m := range inside {
		top[m.at] = m // of two at one place the later lies on top
	}
	here, err := mountsOf("self")
	if err != nil {
		return fmt.Errorf("start sandbox: %w", err)
	}
	for _, m := range v.sorted() {
		if m.kind != readOnly && m.kind != writable {
			continue
		}
		want, err := e.locateSource(m.source, here)
		if err != nil {
			return fmt.Errorf("start sandbox: %s: %w", m.source, err)
		}
		got, ok := top[m.at]
		if !ok || got.device != want.device || got.root != want.root {
			return fmt.Errorf("start sandbox: at %s it shows %s of %s, and not %s of %s: somebody changed the path",
				m.at, got.root, got.device, want.root, want.device)
		}
		if got.write && m.kind == readOnly {
			return fmt.Errorf("start sandbox: %s can be written to", m.at)
		}
	}
	return nil
}

// locateSource finds where a path lies: in an overlay of a trial, or on this machine.
func (e *Environment) locateSource(path string, here []mounted) (mounted, error) {
	if e.o.trial != nil {
		if i, rel, ok := e.o.trial.Root(path); ok {
			return mounted{device: e.devices[i], root: filepath.Join("/", rel)}, nil
		}
	}
	return locateSource(path, here)
}

// locateSource finds where a path lies, and takes no link on the way.
func locateSource(path string, here []mounted) (mounted, error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW,
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &how)
	if err != nil {
		return mounted{}, err
	}
	defer func() { _ = unix.Close(fd) }()
	b, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", fd))
	if err != nil {
		return mounted{}, err
	}
	id := ""
	for line := range strings.Lines(string(b)) {
		if value, ok := strings.CutPrefix(line, "mnt_id:"); ok {
			id = strings.TrimSpace(value)
		}
	}
	for _, m := range here {
		if rel, err := filepath.Rel(m.at, path); m.id == id && err == nil {
			m.root = filepath.Join(m.root, rel)
			return m, nil
		}
	}
	return mounted{}, errors.New("its mount is not known")
}

// Limits of resources, so that a command that runs away takes less with it. They are not those of the
// machine: its owner's control groups are.
const (
	maxFile = 64 << 30 // bytes of one file
	maxOpen = 8192     // open files of one process
)

// limit gives the supervisor its limits, which all commands inherit. None has been started yet.
func (e *Environment) limit() error {
	e.joinGroup()
	limits := map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: maxFile, unix.RLIMIT_NOFILE: maxOpen}
	if !e.group.pids {
		limits[unix.RLIMIT_NPROC] = uint64(e.o.PIDs) // old kernels count all processes of the user in it
	}
	for resource, most := range limits {
		var l unix.Rlimit
		if err := unix.Prlimit(e.init, resource, nil, &l); err != nil {
			return fmt.Errorf("start sandbox: read limits: %w", err)
		}
		l.Max = min(l.Max, most)
		l.Cur = min(l.Cur, l.Max)
		if err := unix.Prlimit(e.init, resource, &l, nil); err != nil {
			return fmt.Errorf("start sandbox: set limits: %w", err)
		}
	}
	return nil
}
