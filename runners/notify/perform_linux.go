//go:build amd64 || arm64

package notify

import (
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// find reads a path of the caller and follows it to the last name.
func (c *caller) find(at int32, address uint64) (place, error) {
	text, err := c.text(address)
	if err != nil {
		return place{dir: -1}, err
	}
	dir, err := c.start(at, text)
	if err != nil {
		return place{dir: -1}, err
	}
	return c.walk(dir, text, 0)
}

// name describes the name that a call would make at a place.
func (c *caller) name(p place, k Kind) (Name, error) {
	dir, err := realName(p.dir)
	if err != nil {
		return Name{}, err
	}
	return Name{PID: c.tid, Path: path.Join(dir, p.name), Kind: k, dir: p.dir}, nil
}

// judge is an error if the name of a place may not be made.
func (c *caller) judge(p place, k Kind) error {
	if c.s.o.Judge == nil {
		return nil
	}
	n, err := c.name(p, k)
	if err != nil {
		return err
	}
	return c.may(n)
}

// may asks the Judge.
func (c *caller) may(n Name) error {
	if !c.s.o.Judge(n) {
		return unix.EACCES
	}
	return nil
}

// dots reports a last name that no call can make.
func (p place) dots() bool { return p.name == "." || p.name == ".." }

// open makes a file or opens the one that is there.
func (c *caller) open(at int32, address uint64, flags int, mode uint32) answer {
	p, err := c.find(at, address)
	if err != nil {
		return failed(err)
	}
	defer func() { p.close() }()
	for {
		switch {
		case p.dir < 0:
			return c.openOwn(p.proc, flags)
		case p.dots():
			return result2(unix.Openat(p.dir, p.name, flags|unix.O_CLOEXEC, mode))
		case p.slash && flags&unix.O_CREAT == 0:
			return c.slashed(p, flags)
		case p.slash:
			return failed(unix.EISDIR)
		}
		fd, err := c.make(p, flags, mode)
		switch {
		case errors.Is(err, unix.ENXIO) || errors.Is(err, unix.EAGAIN):
			return c.wait(p, flags, err)
		case errors.Is(err, unix.ELOOP) && flags&unix.O_NOFOLLOW == 0:
			target, err := p.link(p.name)
			if err != nil {
				return failed(err)
			}
			next, err := c.walk(p.dir, target, p.links)
			if p = next; err != nil {
				return failed(err)
			}
		case err != nil:
			return failed(err)
		default:
			return c.hand(fd, flags)
		}
	}
}

// slashed is an open of an existing file whose name ends with slashes: no file can be opened for writing so.
func (c *caller) slashed(p place, flags int) answer {
	flags = flags&^unix.O_TRUNC | quietly&^unix.O_NOFOLLOW
	return result2(openat(p.dir, p.full(), flags, 0))
}

// result2 refuses a descriptor that nobody asked for.
func result2(fd int, err error) answer {
	if err == nil {
		_ = unix.Close(fd)
		return failed(unix.EISDIR)
	}
	return failed(err)
}

// quietly are flags of every open here: it follows no link, waits for nobody and takes no terminal.
const quietly = unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC

// make opens the file of a place after it was judged.
func (c *caller) make(p place, flags int, mode uint32) (int, error) {
	c.s.naming.RLock()
	defer c.s.naming.RUnlock()
	if flags&unix.O_CREAT != 0 {
		if err := c.judge(p, File); err != nil {
			return -1, err
		}
	}
	full := c.kept(p)
	if full != "" {
		c.decision() // not below: it may wait for the start of a command, which waits for the lock
	}
	// No process that starts meanwhile may inherit a descriptor for writing: the file could not be executed.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if p.name == "tty" {
		if fd, is, err := c.terminal(p, flags); is {
			return fd, err
		}
	}
	if full != "" {
		return c.makeKept(p, full, flags, mode)
	}
	if flags&unix.O_CREAT == 0 {
		return openat(p.dir, p.name, flags|quietly, 0)
	}
	// Most opens are of files that exist. Where the kernel treats O_CREAT differently, it must see it.
	if flags&(unix.O_EXCL|unix.O_DIRECTORY) == 0 && flags&unix.O_ACCMODE != unix.O_RDONLY {
		fd, err := openat(p.dir, p.name, flags&^unix.O_CREAT|quietly, 0)
		if !errors.Is(err, unix.ENOENT) {
			return fd, err
		}
	}
	created, lacking, err := c.masks(p, mode)
	if err != nil {
		return -1, err
	}
	if lacking == 0 {
		return openat(p.dir, p.name, flags|quietly, created)
	}
	for {
		fd, err := openat(p.dir, p.name, flags|quietly|unix.O_EXCL, created)
		if err == nil {
			complete(fd, lacking)
		}
		if !errors.Is(err, unix.EEXIST) || flags&unix.O_EXCL != 0 {
			return fd, err
		}
		if fd, err = openat(p.dir, p.name, flags&^unix.O_CREAT|quietly, 0); !errors.Is(err, unix.ENOENT) {
			return fd, err
		}
	}
}

// openat opens a file, again after a signal to this thread.
func openat(dir int, name string, flags int, mode uint32) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags, mode)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// masks returns the mode to create a file with, and the bits that are to be added afterwards: the kernel
// takes our own umask, and none in a directory with a default ACL. A caller nearly always has the same.
func (c *caller) masks(p place, mode uint32) (created, lacking uint32, err error) {
	mode &= 0o7777
	mask, err := c.umask()
	if err != nil || mask == c.s.mask {
		return mode, 0, err
	}
	acl := "/proc/self/fd/" + strconv.Itoa(p.dir)
	if n, err := unix.Getxattr(acl, "system.posix_acl_default", nil); err == nil && n > 0 {
		return mode, 0, nil
	}
	return mode &^ mask, mode &^ mask & c.s.mask, nil
}

// complete adds bits to the mode of a file that was just made.
func complete(fd int, lacking uint32) {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) == nil {
		_ = unix.Fchmod(fd, st.Mode&0o7777|lacking)
	}
}

// hand gives an open file to the caller, with its own flags.
func (c *caller) hand(fd, flags int) answer {
	const settable = unix.O_APPEND | unix.O_ASYNC | unix.O_DIRECT | unix.O_NOATIME | unix.O_NONBLOCK
	if flags&unix.O_NONBLOCK == 0 {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags&settable); err != nil {
			_ = unix.Close(fd)
			return failed(err)
		}
	}
	if flags&(unix.O_ACCMODE|unix.O_NONBLOCK) == unix.O_RDONLY && isFIFO(fd) {
		return c.untilReady(fd, flags)
	}
	return opened(fd, flags)
}

func isFIFO(fd int) bool {
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFIFO
}

// openOwn opens a file of the caller's own directory in /proc.
func (c *caller) openOwn(own string, flags int) answer {
	if flags&unix.O_EXCL != 0 {
		return failed(unix.EEXIST)
	}
	flags &^= unix.O_CREAT
	known := slices.Contains(ownFiles, own)
	if task, found := strings.CutPrefix(own, "task/"); found {
		_, name, _ := strings.Cut(task, "/")
		known = slices.Contains(ownFiles, name)
	}
	if !known && !strings.HasPrefix(own, "fd/") {
		return failed(unix.EACCES)
	}
	fd, err := c.openQuietly(own, flags)
	if errors.Is(err, unix.ENXIO) || errors.Is(err, unix.EAGAIN) {
		return c.wait(place{dir: -1, proc: own}, flags, err)
	}
	if err != nil {
		return failed(err)
	}
	return c.hand(fd, flags)
}

func (c *caller) openQuietly(own string, flags int) (int, error) {
	if c.s.o.Recorder != nil && writes(flags) {
		c.decision() // not below, as in make
	}
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, err := openat(c.dir, own, flags&^unix.O_TRUNC|quietly&^unix.O_NOFOLLOW, 0)
	if err != nil || !writes(flags) {
		return fd, err
	}
	full := c.keptFile(fd)
	if full == "" {
		return c.truncated("", "", fd, flags)
	}
	decision := c.decision()
	defer c.s.o.Recorder.Begin()()
	return c.truncated(decision, full, fd, flags)
}

// terminal opens /dev/tty, which means the terminal of the process that opens it.
func (c *caller) terminal(p place, flags int) (fd int, is bool, err error) {
	var st unix.Stat_t
	err = unix.Fstatat(p.dir, p.name, &st, unix.AT_SYMLINK_NOFOLLOW)
	if err != nil || st.Mode&unix.S_IFMT != unix.S_IFCHR || st.Rdev != unix.Mkdev(5, 0) {
		return -1, false, nil
	}
	device, err := c.terminalOf()
	if err != nil {
		return -1, true, err
	}
	fd, err = openat(unix.AT_FDCWD, device, flags&^(unix.O_CREAT|unix.O_EXCL)|quietly, 0)
	return fd, true, err
}

// terminalOf returns the path of the caller's controlling terminal, which is a pseudoterminal
// (Documentation/admin-guide/devices.txt: majors 136 to 143).
func (c *caller) terminalOf() (string, error) {
	stat, err := readAt(c.dir, "stat", 1024)
	if err != nil {
		return "", unix.ENXIO
	}
	const field = 7 - 3 // tty_nr, after the name, which ends with the last ")"
	number, ok := statField(stat, field)
	major, minor := unix.Major(number), unix.Minor(number)
	if !ok || major < 136 || major > 143 {
		return "", unix.ENXIO
	}
	return "/dev/pts/" + strconv.Itoa(int(major-136)<<20|int(minor)), nil
}

// Waits for the other end of a FIFO.
const (
	firstWait = time.Millisecond
	mostWait  = 20 * time.Millisecond
)

// restart makes the kernel restart a call after a signal, or fail with EINTR, as its handler wants
// (ERESTARTSYS of include/linux/errno.h).
const restart = unix.Errno(512)

// patiently repeats an attempt until it is over, the caller dies or a signal comes. No thread waits.
func (c *caller) patiently(attempt func() (answer, bool)) answer {
	select {
	case c.s.waiting <- struct{}{}:
		defer func() { <-c.s.waiting }()
	default:
		return failed(unix.ENXIO)
	}
	c.forget()
	for wait := firstWait; ; wait = min(2*wait, mostWait) {
		if a, over := attempt(); over {
			return a
		}
		if err := c.valid(); err != nil {
			return failed(err)
		}
		if c.signalled() {
			return failed(restart)
		}
		if c.s.pause(wait) {
			return failed(unix.EINTR)
		}
	}
}

// wait opens a FIFO for writing as soon as it has a reader, or a file when its lease is over (fcntl(2),
// F_SETLEASE). why is the error of an attempt.
func (c *caller) wait(p place, flags int, why error) answer {
	if flags&unix.O_NONBLOCK != 0 || errors.Is(why, unix.ENXIO) && !c.fifo(p) {
		return failed(why)
	}
	return c.patiently(func() (answer, bool) {
		var fd int
		var err error
		if p.dir < 0 {
			fd, err = c.openQuietly(p.proc, flags)
		} else {
			fd, err = c.make(p, flags&^(unix.O_CREAT|unix.O_EXCL), 0)
		}
		switch {
		case errors.Is(err, unix.ENXIO) || errors.Is(err, unix.EAGAIN):
			return answer{}, false
		case err != nil:
			return failed(err), true
		}
		return c.hand(fd, flags), true
	})
}

func (c *caller) fifo(p place) bool {
	var st unix.Stat_t
	dir, name, follow := p.dir, p.name, unix.AT_SYMLINK_NOFOLLOW
	if dir < 0 {
		dir, name, follow = c.dir, p.proc, 0
	}
	return unix.Fstatat(dir, name, &st, follow) == nil && st.Mode&unix.S_IFMT == unix.S_IFIFO
}

// untilReady hands out a FIFO that was opened for reading when somebody has written to it.
func (c *caller) untilReady(fd, flags int) answer {
	a := c.patiently(func() (answer, bool) {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, 0)
		return opened(fd, flags), err == nil && n > 0
	})
	if a.fd < 0 {
		_ = unix.Close(fd)
	}
	return a
}
