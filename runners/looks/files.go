package looks

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
)

// files are those of an environment. A symbolic link leads where it leads there, so none is followed but by
// us.
type files struct {
	e     *Environment
	until time.Time // for the environment itself; zero for never
}

var _ facts.Far = files{}

// Until returns the same files, for facts that somebody waits for.
func (f files) Until(t time.Time) facts.FS { return files{f.e, t} }

// Walk looks at all that lies on the ways to paths.
func (f files) Walk(paths []string) map[string]facts.Node { return disk.Walk(straight{f: f}, paths) }

func (f files) Lstat(p string) (fs.FileInfo, error) {
	at, err := f.parent(p)
	if err != nil {
		return nil, err
	}
	return f.at(at)
}

func (f files) ReadLink(p string) (string, error) {
	at, err := f.parent(p)
	if err != nil {
		return "", err
	}
	return f.link(at)
}

func (f files) ReadDir(p string) ([]fs.DirEntry, error) {
	at, err := f.resolve(p)
	if err != nil {
		return nil, err
	}
	if s, ok := f.e.o.Live(at); ok {
		source, _, err := f.e.place(s)
		if err == nil {
			var found []fs.DirEntry
			if found, err = f.e.o.Host.ReadDir(source); err == nil {
				return found, nil
			}
		}
		if !errors.Is(err, ErrAsk) {
			return nil, err
		}
	}
	real, err := f.real()
	if err != nil {
		return nil, err
	}
	return real.ReadDir(at)
}

func (f files) ReadFile(p string, limit int) ([]byte, bool, error) {
	at, err := f.resolve(p)
	if err != nil {
		return nil, false, err
	}
	if s, ok := f.e.o.Live(at); ok {
		source, _, err := f.e.place(s)
		if err == nil {
			var content []byte
			var whole bool
			if content, whole, err = f.e.o.Host.ReadFile(source, limit); err == nil {
				return content, whole, nil
			}
		}
		if !errors.Is(err, ErrAsk) {
			return nil, false, err
		}
	}
	real, err := f.real()
	if err != nil {
		return nil, false, err
	}
	return real.ReadFile(at, limit)
}

// real are the files of the environment itself, which is opened for it.
func (f files) real() (facts.FS, error) {
	f.e.mu.Lock()
	defer f.e.mu.Unlock()
	return f.realLocked()
}

func (f files) realLocked() (facts.FS, error) {
	env, err := f.e.real()
	if err != nil {
		return nil, err
	}
	if far, ok := env.FS().(facts.Far); ok && !f.until.IsZero() {
		return far.Until(f.until), nil
	}
	return env.FS(), nil
}

// maxLinks bounds the links of one path, as the kernel does.
const maxLinks = 40

// parent resolves a path but for its last name.
func (f files) parent(p string) (string, error) {
	if p = path.Clean(p); p == "/" {
		return p, nil
	}
	dir, err := f.resolve(path.Dir(p))
	return path.Join(dir, path.Base(p)), err
}

// resolve returns where a path leads, name by name as the kernel goes.
func (f files) resolve(p string) (string, error) {
	at, rest := "/", path.Clean(p)
	for links := 0; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		switch name {
		case "", ".":
			continue
		case "..":
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, name)
		info, err := f.at(next)
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "look at", Path: p, Err: syscall.ELOOP}
		}
		target, err := f.link(next)
		if err != nil {
			return "", err
		}
		if path.IsAbs(target) {
			at = "/"
		}
		rest = target + "/" + rest
	}
	return at, nil
}

// at describes the file at a path that goes through no link.
func (f files) at(p string) (fs.FileInfo, error) {
	if s, ok := f.e.o.Live(p); ok {
		found, err := f.e.lstat(s)
		if errors.Is(err, ErrAsk) {
			return ask(f, func(real facts.FS) (fs.FileInfo, error) { return real.Lstat(p) })
		}
		return found, err
	}
	n, err := f.node(p)
	switch {
	case err != nil:
		return nil, err
	case !n.Exists:
		return nil, missing("lstat", p, n)
	}
	return disk.Known(path.Base(p), n.Mode), nil
}

// link reads a link at a path that goes through no other.
func (f files) link(p string) (string, error) {
	if s, ok := f.e.o.Live(p); ok {
		source, _, err := f.e.place(s)
		if err == nil && s.Rest == "" {
			err = fs.ErrInvalid // a mount is no link
		}
		target := ""
		if err == nil {
			target, err = f.e.o.Host.ReadLink(source)
		}
		if errors.Is(err, ErrAsk) {
			return ask(f, func(real facts.FS) (string, error) { return real.ReadLink(p) })
		}
		return target, err
	}
	n, err := f.node(p)
	switch {
	case err != nil:
		return "", err
	case !n.Exists:
		return "", missing("readlink", p, n)
	case n.Link == "":
		return "", &fs.PathError{Op: "readlink", Path: p, Err: fs.ErrInvalid}
	}
	return n.Link, nil
}

// missing is the reason for an unknown path: it does not exist, or is closed to the commands' user.
func missing(op, p string, n facts.Node) error {
	if n.Absent {
		return &fs.PathError{Op: op, Path: p, Err: fs.ErrNotExist}
	}
	return &fs.PathError{Op: op, Path: p, Err: fs.ErrPermission}
}

// ask asks the environment itself, and keeps nothing of it.
func ask[T any](f files, question func(facts.FS) (T, error)) (T, error) {
	real, err := f.real()
	if err != nil {
		var none T
		return none, err
	}
	return question(real)
}

// node is the environment's own file at a path: cached, or asked for now.
func (f files) node(p string) (facts.Node, error) {
	f.e.mu.Lock()
	defer f.e.mu.Unlock()
	if n, ok := f.e.known.Nodes[p]; ok {
		return n, nil
	}
	real, err := f.realLocked()
	if err != nil {
		return facts.Node{}, err
	}
	found, err := real.Lstat(p)
	n := facts.Node{Exists: err == nil, Absent: errors.Is(err, fs.ErrNotExist)}
	switch {
	case err != nil && !n.Absent && !errors.Is(err, fs.ErrPermission):
		return n, err
	case n.Exists:
		n.Mode = found.Mode()
	}
	if n.Mode&fs.ModeSymlink != 0 {
		if n.Link, err = real.ReadLink(p); err != nil {
			return n, err
		}
	}
	f.e.new = f.e.known.keepNode(p, n) || f.e.new
	return n, nil
}

// straight are files for callers that resolve links themselves.
type straight struct {
	facts.FS
	f files
}

func (s straight) Lstat(p string) (fs.FileInfo, error) { return s.f.at(p) }
func (s straight) ReadLink(p string) (string, error)   { return s.f.link(p) }
