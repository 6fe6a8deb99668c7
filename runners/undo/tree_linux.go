package undo

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// tree reaches the files below some directories, and no others, whatever paths it gets.
type tree struct {
	roots    []string // real paths
	readOnly []string // places below them that are not reached
}

// at opens the directory of a path and returns its last name. It follows no link.
func (t tree) at(p string) (dir int, name string, err error) {
	root := ""
	for _, r := range t.roots {
		if p != r && within(p, r) && len(r) > len(root) {
			root = r
		}
	}
	inside := func(dir string) bool { return within(p, dir) }
	switch {
	case root == "" || path.Clean(p) != p || strings.Contains(p, "\x00"):
		return -1, "", fmt.Errorf("%q is outside of the places where commands write", p)
	case slices.ContainsFunc(t.readOnly, inside):
		return -1, "", fmt.Errorf("%s is in a protected place", p)
	}
	const flags = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Open(root, flags, 0)
	if err != nil {
		return -1, "", err
	}
	rel := strings.TrimPrefix(path.Dir(p)[len(root):], "/")
	if rel == "" || root == "/" && path.Dir(p) == "/" {
		return fd, path.Base(p), nil
	}
	defer func() { _ = unix.Close(fd) }()
	how := unix.OpenHow{
		Flags:   flags,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	for {
		dir, err = unix.Openat2(fd, rel, &how)
		if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
			return dir, path.Base(p), err
		}
	}
}

// do calls a function with the directory and the last name of a path. If the directory's mode keeps its owner
// from writing, it gets another one for that time, and the function is called again.
func (t tree) do(p string, f func(dir int, name string) error) error {
	dir, name, err := t.at(p)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(dir) }()
	err = f(dir, name)
	var st unix.Stat_t
	if !errors.Is(err, unix.EACCES) || unix.Fstat(dir, &st) != nil || st.Mode&writable == writable {
		return err
	}
	at := fmt.Sprintf("/proc/self/fd/%d", dir)
	if unix.Chmod(at, st.Mode&0o7777|writable) != nil {
		return err
	}
	return errors.Join(f(dir, name), unix.Chmod(at, st.Mode&0o7777))
}

// writable are the bits of a directory in which its owner can make and remove files.
const writable = 0o300

// look describes the file at a path; the zero value if there is none.
func (t tree) look(p string) (s State, err error) {
	err = t.do(p, func(dir int, name string) error {
		s, _, err = look(dir, name)
		return err
	})
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return State{}, nil
	}
	return s, err
}
