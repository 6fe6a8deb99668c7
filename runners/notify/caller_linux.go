//go:build amd64 || arm64

package notify

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// caller is a thread that waits in a call.
type caller struct {
	s    *Service
	feed *feed
	id   uint64
	tid  int
	dir  int // its directory in /proc, which stays that of this very thread
	mem  int

	process int // pidfd of its process, once group was called; -1 for none
	pid     int // its number, likewise

	pages  []memory // of one reading
	status []byte   // the first lines of its status
	owner  string   // the decision that it belongs to, if known
	known  bool

	proc bool // a path led through /proc, where the same path leads another process elsewhere
}

// begin opens the files of the caller in /proc. After it the number is known to be that of the caller: the
// open files belong to a thread that waited at that time.
func (c *caller) begin() (err error) {
	c.mem = -1
	if c.dir, err = unix.Open("/proc/"+strconv.Itoa(c.tid), pathOnly, 0); err != nil {
		return unix.EACCES
	}
	if c.mem, err = unix.Openat(c.dir, "mem", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return unix.EACCES // it does not let itself be read
	}
	return c.valid()
}

// valid is an error if the caller does not wait any more.
func (c *caller) valid() error {
	id := c.id
	_, err := c.feed.ioctl(notifyValid, unsafe.Pointer(&id))
	runtime.KeepAlive(&id)
	return err
}

func (c *caller) close() {
	if c.dir >= 0 {
		_ = unix.Close(c.dir)
		c.forget()
	}
	if c.process >= 0 {
		_ = unix.Close(c.process)
	}
}

// group returns the number of the caller's process, and opens it.
func (c *caller) group() (pid int, err error) {
	if c.process < 0 {
		// The number of a thread that is not the first one of a process is EINVAL.
		if c.process, err = unix.PidfdOpen(c.tid, 0); err == nil {
			c.pid = c.tid
			return c.pid, nil
		}
	}
	if c.pid != 0 {
		return c.pid, nil
	}
	group, err := c.field("Tgid")
	if err != nil {
		return 0, err
	}
	if c.pid, err = strconv.Atoi(group); err != nil {
		return 0, unix.EIO
	}
	if c.process, err = unix.PidfdOpen(c.pid, 0); err != nil {
		c.process = -1 // its start cannot be compared
	}
	return c.pid, nil
}

// forget closes the caller's memory.
func (c *caller) forget() {
	c.pages = nil
	if c.mem >= 0 {
		_ = unix.Close(c.mem)
		c.mem = -1
	}
}

const (
	maxPath = 4096 // bytes of a path, with the one that ends it
	page    = 4096 // no page is smaller
)

// text reads a path at an address.
func (c *caller) text(at uint64) (string, error) {
	text, err := c.word(at, maxPath)
	if errors.Is(err, unix.E2BIG) {
		err = unix.ENAMETOOLONG
	}
	return text, err
}

// field returns a value of the caller's status (proc_pid_status(5)).
func (c *caller) field(name string) (string, error) {
	if c.status == nil {
		status, err := readAt(c.dir, "status", 8<<10)
		if err != nil {
			return "", unix.EACCES
		}
		c.status = status
	}
	return field(c.status, name)
}

func field(status []byte, name string) (string, error) {
	for line := range bytes.Lines(status) {
		if value, ok := bytes.CutPrefix(line, []byte(name+":\t")); ok {
			return string(bytes.TrimSpace(value)), nil
		}
	}
	return "", unix.EIO
}

// umask returns the caller's file mode creation mask.
func (c *caller) umask() (uint32, error) {
	value, err := c.field("Umask")
	if err != nil {
		return 0, err
	}
	mask, err := strconv.ParseUint(value, 8, 32)
	if err != nil {
		return 0, unix.EIO
	}
	return uint32(mask), nil
}

func ownMask() (uint32, error) {
	status, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		return 0, err
	}
	value, err := field(status, "Umask")
	if err != nil {
		return 0, err
	}
	mask, err := strconv.ParseUint(value, 8, 32)
	return uint32(mask), err
}

// signalled reports whether a signal waits that would end the call or begin a handler. A signal that another
// thread takes does not count: the kernel would leave the caller the number of a restart.
func (c *caller) signalled() bool {
	c.status = nil
	var sets [3]uint64
	for i, name := range []string{"SigPnd", "ShdPnd", "SigBlk"} {
		value, err := c.field(name)
		if err != nil {
			return false
		}
		sets[i], _ = strconv.ParseUint(value, 16, 64)
	}
	if sets[0]&^sets[2] != 0 {
		return true
	}
	shared := sets[1] &^ sets[2]
	return shared != 0 && c.takes(shared)
}

// takes reports whether the kernel wakes the caller for a signal to its process: the first thread of that, or
// a further one if all others block the signal (complete_signal of Linux).
func (c *caller) takes(signals uint64) bool {
	if group, err := c.field("Tgid"); err != nil || group == strconv.Itoa(c.tid) {
		return err == nil
	}
	tasks, err := unix.Openat(c.dir, "task", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	dir := os.NewFile(uintptr(tasks), "task")
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if name == strconv.Itoa(c.tid) {
			continue
		}
		status, err := readAt(tasks, name+"/status", 8<<10)
		if err != nil {
			continue // it has ended
		}
		state, _ := field(status, "State")
		blocked, err := field(status, "SigBlk")
		mask, _ := strconv.ParseUint(blocked, 16, 64)
		if err == nil && !strings.HasPrefix(state, "Z") && signals&^mask != 0 {
			return false
		}
	}
	return true
}

// readAt reads at most some bytes of a file.
func readAt(dir int, name string, most int) ([]byte, error) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	buf := make([]byte, most)
	n, err := unix.Read(fd, buf)
	return buf[:max(n, 0)], err
}

// start opens the directory from which a relative path of the caller leads; -1 for one that needs none.
func (c *caller) start(at int32, path string) (int, error) {
	switch {
	case path == "":
		return -1, unix.ENOENT
	case path[0] == '/':
		return -1, nil
	case at == unix.AT_FDCWD:
		fd, err := unix.Openat(c.dir, "cwd", pathOnly, 0)
		if err != nil {
			return -1, unix.ENOENT
		}
		return fd, nil
	}
	fd, err := unix.Openat(c.dir, "fd/"+strconv.Itoa(int(at)), pathOnly, 0)
	if err == unix.ENOENT {
		err = unix.EBADF
	}
	return fd, err
}
