package filetools

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// mapped shows a map as the files below "base". What "locked" is part of cannot be looked into.
type mapped struct{ fstest.MapFS }

func (m mapped) locked(p string) error {
	if strings.Contains(p, "locked") {
		return &fs.PathError{Op: "open", Path: p, Err: fs.ErrPermission}
	}
	return nil
}

func (m mapped) Lstat(p string) (fs.FileInfo, error) { return fs.Lstat(m.MapFS, p) }

func (m mapped) ReadLink(p string) (string, error) {
	if err := m.locked(p); err != nil {
		return "", err
	}
	return m.MapFS.ReadLink(p)
}

func (m mapped) ReadDir(p string) ([]fs.DirEntry, error) {
	if err := m.locked(p); err != nil {
		return nil, err
	}
	return m.MapFS.ReadDir(p)
}

func (mapped) ReadFile(string, int) ([]byte, bool, error) {
	return nil, false, errors.New("contents are not shown before a decision")
}

func TestGrow(t *testing.T) {
	t.Parallel()
	files := mapped{fstest.MapFS{
		"base/a":            {},
		"base/sub/b":        {},
		"base/sub/locked/c": {},
		"base/l locked":     {Mode: fs.ModeSymlink, Data: []byte("x")},
		"base/l":            {Mode: fs.ModeSymlink, Data: []byte("../x")},
		"base/hollow":       {Mode: fs.ModeDir},
		"base/bad\xff":      {},
		"base/full/d":       {},
		"base/full/in/e":    {},
		"base/kept/f":       {},
		"base/kept/g.keep":  {},
	}}
	takes, err := parseSelection(nil, []string{"*.keep"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := grow(files, "base", takes, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := tree{
		files: []item{{rel: "a"}, {rel: "full/d"}, {rel: "full/in/e"}, {rel: "kept/f"}, {rel: "l", mode: fs.ModeSymlink, link: "../x"}, {rel: "sub/b"}},
		// A directory that keeps something, or of which something is not known, does not become empty.
		emptied: []string{"full/in", "full"}, hollow: []string{"hollow"},
		problems: []Problem{
			{"bad\uFFFD", "its name is not UTF-8, so no policy can judge it: rename it"},
			{"l locked", "permission denied"}, {"sub/locked", "permission denied"},
		},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(tree{}, item{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := grow(files, "locked", takes, nil); err == nil || err.Error() != "locked: permission denied" {
		t.Errorf("a base that cannot be read: %v", err)
	}
}

// endless is a tree in which each directory has a hundred directories of a hundred files.
type endless struct{ mapped }

func (e endless) ReadDir(p string) ([]fs.DirEntry, error) {
	kind := fs.ModeDir
	if strings.Count(p, "/") == 1 {
		kind = 0
	}
	m := fstest.MapFS{}
	for i := range 100 {
		m[fmt.Sprintf("%s-%03d", strings.Repeat("x", 60), i)] = &fstest.MapFile{Mode: kind}
	}
	return m.ReadDir(".")
}

func TestBudgets(t *testing.T) {
	t.Parallel()
	none := strings.Repeat("y", 64)
	for want, c := range map[string]struct {
		base    string
		include []string
	}{
		"more than 5000 files: narrow the patterns":              {"base", nil},
		"more than 64 directories inside each other":             {"a/b/c", []string{none}},
		"too many names for that many patterns: send fewer":      {"base", strings.Split(strings.Repeat(strings.Repeat("y", 63)+" ", 63)+none, " ")},
		"more than 50000 entries to look through: choose a base": {"wide", []string{none}},
	} {
		takes, err := parseSelection(c.include, nil)
		if err != nil {
			t.Fatal(err)
		}
		e := endless{mapped{fstest.MapFS{}}}
		if c.base == "wide" {
			_, err = grow(wide{e}, c.base, takes, nil)
		} else {
			_, err = grow(e, c.base, takes, nil)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// wide is endless with directories of short names.
type wide struct{ endless }

func (wide) ReadDir(p string) ([]fs.DirEntry, error) {
	m := fstest.MapFS{}
	for i := range 300 {
		kind := fs.FileMode(0)
		if p == "wide" {
			kind = fs.ModeDir
		}
		m[fmt.Sprint(i)] = &fstest.MapFile{Mode: kind}
	}
	return m.ReadDir(".")
}
