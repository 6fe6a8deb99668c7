//go:build amd64 || arm64

package notify

import (
	"bytes"
	"errors"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// statField returns a number of /proc/PID/stat, counted from the one after the name.
func statField(stat []byte, n int) (uint64, bool) {
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if n >= len(fields) {
		return 0, false
	}
	v, err := strconv.ParseUint(fields[n], 10, 64)
	return v, err == nil
}

// at calls do with a place where a name is to be made, after it was judged.
func (c *caller) at(dir int32, address uint64, k Kind, do func(p place) error) answer {
	p, err := c.find(dir, address)
	if err != nil {
		return failed(err)
	}
	defer p.close()
	return result(c.naming(p, k, do))
}

func (c *caller) naming(p place, k Kind, do func(p place) error) error {
	switch {
	case p.dir < 0:
		return unix.EACCES
	case p.dots():
		return unix.EEXIST
	}
	c.s.naming.RLock()
	defer c.s.naming.RUnlock()
	if err := c.judge(p, k); err != nil {
		return err
	}
	return c.recorded(p, k == Moved, do)
}

func (c *caller) mkdir(at int32, address uint64, mode uint32) answer {
	return c.at(at, address, Dir, func(p place) error {
		created, lacking, err := c.masks(p, mode)
		if err == nil {
			err = unix.Mkdirat(p.dir, p.full(), created)
		}
		if err != nil {
			return err
		}
		if lacking != 0 {
			c.completeAt(p, lacking)
		}
		c.s.remember(p.dir, p.name)
		return nil
	})
}

// completeAt is complete for files that their maker cannot open.
func (c *caller) completeAt(p place, lacking uint32) {
	var st unix.Stat_t
	err := unix.Fstatat(p.dir, p.name, &st, unix.AT_SYMLINK_NOFOLLOW)
	if err == nil && st.Mode&unix.S_IFMT != unix.S_IFLNK {
		_ = unix.Fchmodat(p.dir, p.name, st.Mode&0o7777|lacking, 0)
	}
}

func (c *caller) mknod(at int32, address uint64, mode, device uint32) answer {
	kind := Other
	if t := mode & unix.S_IFMT; t == unix.S_IFREG || t == 0 {
		kind = File
	}
	return c.at(at, address, kind, func(p place) error {
		created, lacking, err := c.masks(p, mode)
		if err == nil {
			err = unix.Mknodat(p.dir, p.full(), mode&unix.S_IFMT|created, int(device))
		}
		if err == nil && lacking != 0 {
			c.completeAt(p, lacking)
		}
		return err
	})
}

func (c *caller) symlink(target uint64, at int32, address uint64) answer {
	text, err := c.text(target)
	if err != nil {
		return failed(err)
	}
	return c.at(at, address, Link, func(p place) error { return unix.Symlinkat(text, p.dir, p.full()) })
}

// link makes a further name of a file.
func (c *caller) link(fromAt int32, from uint64, toAt int32, to uint64, flags int) answer {
	if flags&^(unix.AT_SYMLINK_FOLLOW|unix.AT_EMPTY_PATH) != 0 {
		return failed(unix.EINVAL)
	}
	source, err := c.source(fromAt, from, flags)
	if err != nil {
		return failed(err)
	}
	defer source.close()
	target, err := c.find(toAt, to)
	if err != nil {
		return failed(err)
	}
	defer target.close()
	return result(c.naming(target, Moved, func(p place) error {
		if source.dir < 0 {
			return unix.Linkat(c.dir, source.proc, p.dir, p.full(), unix.AT_SYMLINK_FOLLOW)
		}
		return unix.Linkat(source.dir, source.full(), p.dir, p.full(), 0)
	}))
}

// source finds the file that is to get another name.
func (c *caller) source(at int32, address uint64, flags int) (place, error) {
	text, err := c.text(address)
	if err != nil {
		return place{dir: -1}, err
	}
	if text == "" && flags&unix.AT_EMPTY_PATH != 0 && at != unix.AT_FDCWD {
		fd, err := c.start(at, ".")
		if err != nil {
			return place{dir: -1}, err
		}
		_ = unix.Close(fd)
		return place{dir: -1, proc: "fd/" + strconv.Itoa(int(at))}, nil
	}
	dir, err := c.start(at, text)
	if err != nil {
		return place{dir: -1}, err
	}
	p, err := c.walk(dir, text, 0)
	for err == nil && p.dir >= 0 && flags&unix.AT_SYMLINK_FOLLOW != 0 && !p.dots() {
		target, failed := p.link(p.name)
		if errors.Is(failed, unix.EINVAL) {
			return p, nil
		}
		if err = failed; err == nil {
			p, err = c.walk(p.dir, target, p.links)
		} else {
			p.close()
		}
	}
	if err == nil && p.dir < 0 && (flags&unix.AT_SYMLINK_FOLLOW == 0 || !strings.HasPrefix(p.proc, "fd/")) {
		err = unix.EXDEV // a file of /proc itself
	}
	return p, err
}

// rename moves something to another name, or exchanges two.
func (c *caller) rename(fromAt int32, from uint64, toAt int32, to uint64, flags uint32) answer {
	old, err := c.find(fromAt, from)
	if err != nil {
		return failed(err)
	}
	defer old.close()
	target, err := c.find(toAt, to)
	if err != nil {
		return failed(err)
	}
	defer target.close()
	switch {
	case old.dir < 0 || target.dir < 0:
		return failed(unix.EXDEV)
	case old.dots() || target.dots():
		return failed(unix.EBUSY)
	}
	exchange := flags&unix.RENAME_EXCHANGE != 0
	if isDir(old) || exchange && isDir(target) {
		c.s.naming.Lock()
		defer c.s.naming.Unlock()
	} else {
		c.s.naming.RLock()
		defer c.s.naming.RUnlock()
	}
	if err = c.moves(old, target); err == nil && exchange {
		err = c.moves(target, old)
	}
	if err == nil {
		err = c.moved(old, target, flags, func() error {
			return unix.Renameat2(old.dir, old.full(), target.dir, target.full(), uint(flags))
		})
	}
	return result(err)
}

func isDir(p place) bool {
	var st unix.Stat_t
	err := unix.Fstatat(p.dir, p.name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return err == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR
}

// moves asks the Judge about something that moves from one place to another.
func (c *caller) moves(from, to place) error {
	if c.s.o.Judge == nil {
		return nil
	}
	n, err := c.name(to, Moved)
	if err != nil {
		return err
	}
	dir, err := realName(from.dir)
	if err != nil {
		return err
	}
	n.From, n.Tree = path.Join(dir, from.name), isDir(from)
	return c.may(n)
}

// Folds reports whether the file system takes names for the same that differ in case.
func (n Name) Folds() bool {
	fd, err := unix.Openat(n.dir, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return true // it cannot be known
	}
	defer func() { _ = unix.Close(fd) }()
	const casefold = 0x40000000 // FS_CASEFOLD_FL
	flags, err := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS)
	return err == nil && flags&casefold != 0
}
