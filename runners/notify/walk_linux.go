//go:build amd64 || arm64

package notify

import (
	"errors"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// pathOnly opens a file to name others by it; nothing is read.
	pathOnly = unix.O_PATH | unix.O_CLOEXEC
	// maxLinks is how many symbolic links the kernel follows in one path (path_resolution(7)).
	maxLinks = 40
)

// place is where a path leads, but for its last name.
type place struct {
	dir   int    // O_PATH; the caller's to close
	name  string // "." and ".." too, and "." for the root directory
	slash bool   // slashes follow the name
	links int    // that were followed
	proc  string // the rest of a path that leads into /proc, from the process's directory on; dir is -1
}

func (p place) close() {
	if p.dir >= 0 {
		_ = unix.Close(p.dir)
	}
}

// full is the last name as the kernel is to see it.
func (p place) full() string {
	if p.slash {
		return p.name + "/"
	}
	return p.name
}

// walk follows a path of the caller from a directory, which it closes, to the last name. It goes name by
// name and follows links by itself: nothing that means the process which asks (/proc/self) must mean this
// one.
func (c *caller) walk(dir int, text string, links int) (p place, err error) {
	p = place{dir: dir, links: links}
	defer func() {
		if err != nil {
			p.close()
			p.dir = -1
		}
	}()
	if text != "" && text[0] == '/' {
		if direct, ok := c.s.direct(text); ok {
			p.close()
			return direct, nil
		}
		if err = p.enter(again(c.s.root)); err != nil {
			return p, err
		}
	}
	for {
		text = strings.TrimLeft(text, "/")
		if in, err := inProc(p.dir); err != nil {
			return p, err
		} else if in {
			c.proc = true
			rest, more, err := c.ownProc(p.dir, text)
			if err != nil {
				return p, err
			}
			if more == "" {
				p.close()
				p.dir, p.proc = -1, rest
				return p, nil
			}
			fd, err := unix.Openat(c.dir, rest, pathOnly, 0)
			if err = p.enter(fd, err); err != nil {
				return p, err
			}
			text = more
			continue
		}
		name, rest, found := strings.Cut(text, "/")
		if strings.Trim(rest, "/") == "" {
			p.name, p.slash = name, found
			if name == "" {
				p.name = "."
			}
			return p, nil
		}
		fd, err := unix.Openat(p.dir, name, pathOnly|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		if !errors.Is(err, unix.ENOTDIR) && !errors.Is(err, unix.ELOOP) {
			if err = p.enter(fd, err); err != nil {
				return p, err
			}
			text = rest
			continue
		}
		target, err := p.link(name)
		if errors.Is(err, unix.EINVAL) {
			err = unix.ENOTDIR
		}
		if err != nil {
			return p, err
		}
		if target[0] == '/' {
			if err = p.enter(again(c.s.root)); err != nil {
				return p, err
			}
		}
		text = target + "/" + rest
	}
}

// direct is walk for a path from the root directory that leads through no link, but for those of the root
// directory itself at the start of the Service (/bin). Its directory has that very name then: the kernel,
// which followed links of this process if there were any, would have come to another.
func (s *Service) direct(full string) (p place, ok bool) {
	dir, name := path.Split(full)
	if name == "" || name == "." || name == ".." || len(dir) < 2 {
		return p, false
	}
	dir = dir[:len(dir)-1]
	want := dir
	if top, _, _ := strings.Cut(dir[1:], "/"); s.merged[top] != "" {
		want = s.merged[top] + dir[1+len(top):]
	}
	fd, err := unix.Open(dir, pathOnly|unix.O_DIRECTORY, 0) // the link may lead elsewhere by now
	if err != nil {
		return p, false
	}
	real, err := realName(fd)
	in := true
	if err == nil && real == want {
		in, err = inProc(fd)
	}
	if err != nil || in {
		_ = unix.Close(fd)
		return p, false
	}
	return place{dir: fd, name: name}, true
}

// merged are the links of the root directory to directories below it, as where /bin is /usr/bin.
func merged(root int) map[string]string {
	links := map[string]string{}
	for _, name := range []string{"bin", "sbin", "lib", "lib64"} {
		var buf [maxPath]byte
		n, err := unix.Readlinkat(root, name, buf[:])
		if to := string(buf[:max(n, 0)]); err == nil && strings.Trim(to, "/") != "" {
			links[name] = path.Join("/", to)
		}
	}
	return links
}

// again returns another descriptor of a directory.
func again(dir int) (int, error) { return unix.FcntlInt(uintptr(dir), unix.F_DUPFD_CLOEXEC, 3) }

// enter goes on from a directory that was just opened.
func (p *place) enter(fd int, err error) error {
	if err == nil {
		p.close()
		p.dir = fd
	}
	return err
}

// link reads the symbolic link of a name and counts it. EINVAL says that it is none.
func (p *place) link(name string) (string, error) {
	var buf [maxPath]byte
	n, err := unix.Readlinkat(p.dir, name, buf[:])
	switch {
	case err != nil:
		return "", err
	case n == 0:
		return "", unix.ENOENT
	case p.links >= maxLinks:
		return "", unix.ELOOP
	}
	p.links++
	return string(buf[:n]), nil
}

// inProc reports a directory of a file system of processes.
func inProc(dir int) (bool, error) {
	var st unix.Statfs_t
	if err := unix.Fstatfs(dir, &st); err != nil {
		return false, err
	}
	return st.Type == unix.PROC_SUPER_MAGIC, nil
}

// realName returns the name of a directory, or of another file, that is open.
func realName(fd int) (string, error) {
	var buf [maxPath]byte
	n, err := unix.Readlink("/proc/self/fd/"+strconv.Itoa(fd), buf[:])
	if err != nil {
		return "", err
	}
	if n == len(buf) {
		return "", unix.ENAMETOOLONG
	}
	return string(buf[:n]), nil
}

// ownFiles are the files of a process that it may open for writing by the Service, in its directory of
// /proc.
var ownFiles = []string{
	"autogroup", "clear_refs", "comm", "coredump_filter", "oom_adj", "oom_score_adj", "sched",
	"timerslack_ns",
}

// ownProc reads the rest of a path from a directory in /proc on. It returns the name of a file in the
// caller's own directory there, and the rest of the path if that leads out again (cwd, root, descriptors).
// Every other file there is refused: those of this process and its memory first of all.
func (c *caller) ownProc(dir int, path string) (own, more string, err error) {
	real, err := realName(dir)
	if err != nil {
		return "", "", err
	}
	rel, ok := strings.CutPrefix(real+"/", "/proc/")
	if !ok {
		return "", "", unix.EACCES
	}
	var names []string
	for _, n := range strings.Split(rel+path, "/") {
		if n != "" && n != "." {
			names = append(names, n)
		}
	}
	group, err := c.field("Tgid")
	if err != nil {
		return "", "", err
	}
	self := strconv.Itoa(c.tid)
	switch {
	case len(names) == 0 || strings.Contains(path, ".."):
		return "", "", unix.EACCES
	case names[0] == "self", names[0] == "thread-self", names[0] == group, names[0] == self:
		names = names[1:]
	default:
		return "", "", unix.EACCES
	}
	if len(names) > 1 && names[0] == "task" {
		if names[1] != self && names[1] != group {
			return c.otherThread(names)
		}
		names = names[2:]
	}
	if len(names) == 0 {
		return "", "", unix.EACCES
	}
	n := 1
	switch {
	case names[0] == "fd" && len(names) > 1:
		if _, err := strconv.ParseUint(names[1], 10, 31); err != nil {
			return "", "", unix.ENOENT
		}
		n = 2
	case names[0] == "cwd", names[0] == "root":
	case len(names) > 1:
		return "", "", unix.EACCES
	}
	own = strings.Join(names[:n], "/")
	if more = strings.Join(names[n:], "/"); more != "" && strings.HasSuffix(path, "/") {
		more += "/"
	}
	return own, more, nil
}

// otherThread is ownProc for a file of another thread of the caller's process, such as its name.
func (c *caller) otherThread(names []string) (own, more string, err error) {
	if _, err := strconv.ParseUint(names[1], 10, 31); err != nil || len(names) != 3 {
		return "", "", unix.EACCES
	}
	return strings.Join(names, "/"), "", nil
}
