//go:build amd64 || arm64

package notify

import (
	"errors"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/runners/undo"
)

// kept returns the real path of a place whose changes are recorded; "" for others.
func (c *caller) kept(p place) string {
	if c.s.o.Recorder == nil || p.dir < 0 || p.dots() {
		return ""
	}
	dir, err := realName(p.dir)
	if err != nil {
		return ""
	}
	full := path.Join(dir, p.name)
	if !c.s.o.Recorder.Watches(full) {
		return ""
	}
	return full
}

// keptFile is kept for an open file.
func (c *caller) keptFile(fd int) string {
	if c.s.o.Recorder == nil {
		return ""
	}
	full, err := realName(fd)
	if err != nil || !strings.HasPrefix(full, "/") || !c.s.o.Recorder.Watches(full) {
		return ""
	}
	return full
}

// decision names the decision that the caller's changes belong to.
func (c *caller) decision() string {
	if c.feed.owner != "" {
		return c.feed.owner
	}
	if !c.known && c.s.o.Decision != nil {
		c.owner, c.known = c.s.o.Decision(c.tid), true
	}
	return c.owner
}

// recorded makes a thing of a new name by do, and notes it.
func (c *caller) recorded(p place, further bool, do func(p place) error) error {
	full := c.kept(p)
	if full == "" {
		return do(p)
	}
	decision := c.decision()
	defer c.s.o.Recorder.Begin()()
	if !further {
		c.s.o.Recorder.Making(decision, full)
	}
	err := do(p)
	if err == nil {
		c.s.o.Recorder.Made(decision, full, p.dir, p.name, further)
	}
	return err
}

// writes reports an open that may change the content of a file.
func writes(flags int) bool { return flags&(unix.O_ACCMODE|unix.O_TRUNC) != 0 }

// makeKept opens the file of a place, or makes it, after its earlier version was kept. The file is known
// before it changes: it is open without O_TRUNC then.
func (c *caller) makeKept(p place, full string, flags int, mode uint32) (int, error) {
	if flags&unix.O_CREAT != 0 && flags&unix.O_DIRECTORY != 0 {
		return -1, unix.EINVAL
	}
	decision := c.decision()
	defer c.s.o.Recorder.Begin()()
	for range 10 {
		if flags&unix.O_EXCL == 0 || flags&unix.O_CREAT == 0 {
			const later = unix.O_CREAT | unix.O_EXCL | unix.O_TRUNC
			fd, err := openat(p.dir, p.name, flags&^later|quietly, 0)
			if err == nil {
				return c.truncated(decision, full, fd, flags)
			}
			if !errors.Is(err, unix.ENOENT) || flags&unix.O_CREAT == 0 {
				return fd, err
			}
		}
		created, lacking, err := c.masks(p, mode)
		if err != nil {
			return -1, err
		}
		c.s.o.Recorder.Making(decision, full)
		fd, err := openat(p.dir, p.name, flags|quietly|unix.O_EXCL, created)
		if err == nil {
			if lacking != 0 {
				complete(fd, lacking)
			}
			c.s.o.Recorder.Made(decision, full, fd, "", false)
			return fd, nil
		}
		if !errors.Is(err, unix.EEXIST) || flags&unix.O_EXCL != 0 {
			return fd, err
		}
	}
	return -1, unix.EEXIST
}

// truncated keeps the file that was just opened without O_TRUNC, and does the rest of the open. On errors it
// closes the file.
func (c *caller) truncated(decision, full string, fd, flags int) (int, error) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	switch {
	case err != nil:
	case st.Mode&unix.S_IFMT == unix.S_IFDIR && flags&(unix.O_CREAT|unix.O_TRUNC) != 0:
		err = unix.EISDIR
	case st.Mode&unix.S_IFMT != unix.S_IFREG || !writes(flags):
	default:
		if full != "" {
			c.s.o.Recorder.Writing(decision, full, fd)
		}
		if flags&unix.O_TRUNC == 0 {
			break
		}
		if flags&unix.O_ACCMODE != unix.O_RDONLY {
			err = untilDone(func() error { return unix.Ftruncate(fd, 0) })
			break
		}
		var other int
		const not = unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW
		other, err = openat(unix.AT_FDCWD, ownFile(fd), (flags|quietly)&^not, 0)
		_ = unix.Close(fd)
		fd = other
	}
	if err != nil && fd >= 0 {
		_ = unix.Close(fd)
		fd = -1
	}
	return fd, err
}

// ownFile is the path by which this process reaches a file that it has open.
func ownFile(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// untilDone does something again after a signal to this thread.
func untilDone(do func() error) error {
	for {
		if err := do(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// truncate changes the length of a file.
func (c *caller) truncate(address uint64, length int64) answer {
	if length < 0 {
		return failed(unix.EINVAL)
	}
	fd, err := c.file(unix.AT_FDCWD, address)
	if err != nil {
		return failed(err)
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return failed(err)
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return failed(unix.EISDIR)
	case unix.S_IFREG:
	default:
		return failed(unix.EINVAL)
	}
	open, err := openat(unix.AT_FDCWD, ownFile(fd), unix.O_WRONLY|quietly&^unix.O_NOFOLLOW, 0)
	if err != nil {
		return failed(err)
	}
	defer func() { _ = unix.Close(open) }()
	if full := c.keptFile(open); full != "" {
		decision := c.decision()
		defer c.s.o.Recorder.Begin()()
		c.s.o.Recorder.Writing(decision, full, open)
	}
	return result(untilDone(func() error { return unix.Ftruncate(open, length) }))
}

// file opens the file of a path for its name only (O_PATH), following links.
func (c *caller) file(at int32, address uint64) (int, error) {
	p, err := c.find(at, address)
	if err != nil {
		return -1, err
	}
	defer func() { p.close() }()
	for {
		if p.dir < 0 {
			return unix.Openat(c.dir, p.proc, pathOnly, 0)
		}
		fd, err := unix.Openat(p.dir, p.full(), pathOnly|unix.O_NOFOLLOW, 0)
		if err != nil {
			return -1, err
		}
		var st unix.Stat_t
		if err = unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFLNK {
			return fd, nil
		}
		_ = unix.Close(fd)
		if err != nil {
			return -1, err
		}
		target, err := p.link(p.name)
		if err != nil {
			return -1, err
		}
		if p.slash {
			target += "/"
		}
		if p, err = c.walk(p.dir, target, p.links); err != nil {
			return -1, err
		}
	}
}

// chmod changes the mode of a file.
func (c *caller) chmod(at int32, address uint64, mode uint32) answer {
	fd, err := c.file(at, address)
	if err != nil {
		return failed(err)
	}
	return c.changeMode(fd, mode)
}

// fchmod changes the mode of a file that the caller has open.
func (c *caller) fchmod(number int32, mode uint32) answer {
	fd, err := c.start(number, ".")
	if number < 0 {
		err = unix.EBADF
	}
	if err != nil {
		return failed(err)
	}
	return c.changeMode(fd, mode)
}

// changeMode closes the descriptor.
func (c *caller) changeMode(fd int, mode uint32) answer {
	defer func() { _ = unix.Close(fd) }()
	if in, err := inProc(fd); err != nil || in {
		return failed(unix.EPERM)
	}
	if full := c.keptFile(fd); full != "" {
		decision := c.decision()
		defer c.s.o.Recorder.Begin()()
		c.s.o.Recorder.Mode(decision, full, fd)
	}
	return result(unix.Fchmodat(unix.AT_FDCWD, ownFile(fd), mode&0o7777, 0))
}

// unlink removes a name.
func (c *caller) unlink(at int32, address uint64, flags int) answer {
	if flags&^unix.AT_REMOVEDIR != 0 {
		return failed(unix.EINVAL)
	}
	p, err := c.find(at, address)
	if err != nil {
		return failed(err)
	}
	defer p.close()
	if p.dir < 0 {
		return failed(unix.EPERM)
	}
	if full := c.kept(p); full != "" {
		decision := c.decision()
		defer c.s.o.Recorder.Begin()()
		c.s.o.Recorder.Removing(decision, full, p.dir, p.name)
	}
	return result(unix.Unlinkat(p.dir, p.full(), flags))
}

// moved renames by do, and notes it. A name that leaves the recorded places, or comes into them, is noted by
// itself.
func (c *caller) moved(old, target place, flags uint32, do func() error) error {
	from, to := c.kept(old), c.kept(target)
	if from == "" && to == "" {
		return do()
	}
	r, decision, swap := c.s.o.Recorder, c.decision(), flags&unix.RENAME_EXCHANGE != 0
	defer r.Begin()()
	if flags&unix.RENAME_NOREPLACE != 0 && exists(target) {
		return unix.EEXIST
	}
	if from != "" && to != "" {
		r.Moving(decision, undo.Place{Path: from, Dir: old.dir, Name: old.name},
			undo.Place{Path: to, Dir: target.dir, Name: target.name}, swap)
		return do()
	}
	if from != "" {
		r.Removing(decision, from, old.dir, old.name)
	} else {
		r.Removing(decision, to, target.dir, target.name)
	}
	err := do()
	switch {
	case err != nil:
	case to != "":
		r.Made(decision, to, target.dir, target.name, true)
	case swap:
		r.Made(decision, from, old.dir, old.name, true)
	}
	return err
}

func exists(p place) bool {
	var st unix.Stat_t
	return unix.Fstatat(p.dir, p.name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil
}
