package build

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"time"
)

// memFS is a file system from a list: one path a line, "dir/" for a directory, "name -> target"
// for a symbolic link, "name %block" or "name %char" for a device, "name: text" for a file with text.
type memFS map[string]memNode

type memNode struct {
	name   string
	mode   fs.FileMode
	target string
	text   string
}

func newMemFS(list string) memFS {
	m := memFS{"/": {name: "/", mode: fs.ModeDir}}
	for _, line := range strings.Split(list, "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		n := memNode{}
		if p, target, ok := strings.Cut(line, " -> "); ok {
			line, n.mode, n.target = p, fs.ModeSymlink, target
		} else if p, ok := strings.CutSuffix(line, " %block"); ok {
			line, n.mode = p, fs.ModeDevice
		} else if p, ok := strings.CutSuffix(line, " %char"); ok {
			line, n.mode = p, fs.ModeDevice|fs.ModeCharDevice
		} else if p, text, ok := strings.Cut(line, ": "); ok {
			line, n.text = p, strings.ReplaceAll(text, `\n`, "\n")
		} else if p, ok := strings.CutSuffix(line, "/"); ok {
			line, n.mode = p, fs.ModeDir
		}
		n.name = path.Base(line)
		m[line] = n
		for dir := path.Dir(line); dir != "/"; dir = path.Dir(dir) {
			if _, ok := m[dir]; !ok {
				m[dir] = memNode{name: path.Base(dir), mode: fs.ModeDir}
			}
		}
	}
	return m
}

func (n memNode) Name() string               { return n.name }
func (n memNode) Size() int64                { return int64(len(n.text)) }
func (n memNode) Mode() fs.FileMode          { return n.mode }
func (n memNode) ModTime() time.Time         { return time.Time{} }
func (n memNode) IsDir() bool                { return n.mode.IsDir() }
func (n memNode) Sys() any                   { return nil }
func (n memNode) Type() fs.FileMode          { return n.mode.Type() }
func (n memNode) Info() (fs.FileInfo, error) { return n, nil }

func (m memFS) get(op, p string) (memNode, error) {
	if p != path.Clean(p) {
		return memNode{}, &fs.PathError{Op: op, Path: p, Err: fs.ErrInvalid} // the contract: clean paths
	}
	n, ok := m[p]
	if !ok {
		return n, &fs.PathError{Op: op, Path: p, Err: fs.ErrNotExist}
	}
	return n, nil
}

func (m memFS) Lstat(p string) (fs.FileInfo, error) { return m.get("lstat", p) }

func (m memFS) ReadLink(p string) (string, error) {
	n, err := m.get("readlink", p)
	return n.target, err
}

func (m memFS) ReadDir(p string) ([]fs.DirEntry, error) {
	if n, err := m.get("readdir", p); err != nil || !n.IsDir() {
		return nil, fs.ErrNotExist
	}
	var out []fs.DirEntry
	for q, n := range m {
		if path.Dir(q) == p && q != p {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return out, nil
}

func (m memFS) ReadFile(p string, limit int) ([]byte, bool, error) {
	n, err := m.get("read", p)
	if err != nil || !n.mode.IsRegular() {
		return nil, false, fs.ErrNotExist
	}
	return []byte(n.text[:min(limit, len(n.text))]), len(n.text) <= limit, nil
}

func TestMemFS(t *testing.T) {
	t.Parallel()
	m := newMemFS("/a/b\n/l -> a\n/d/\n/dev/sda %block\n/x: one\\ntwo")
	if c, whole, err := m.ReadFile("/x", 100); string(c) != "one\ntwo" || !whole || err != nil {
		t.Errorf("read %q %v %v", c, whole, err)
	}
	if e, _ := m.ReadDir("/"); len(e) != 5 {
		t.Errorf("%d entries in /, want 5: %v", len(e), e)
	}
}
