//go:build amd64 || arm64

package notify

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestDirect: a path is followed at once only where that leads to the place to which its names lead one by
// one. A link, and one that means the asking process, is left to the walk.
func TestDirect(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{
		"link": "plain", "self": "/proc/self/cwd", "fd": "/proc/self/fd", "top/other": "../plain",
	} {
		if err := os.MkdirAll(filepath.Join(root, "plain", "deep"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(root, "top"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	s := &Service{}
	for text, want := range map[string]string{
		root + "/plain/x":             root + "/plain",
		root + "/plain/deep/x":        root + "/plain/deep",
		root + "/link/x":              "",
		root + "/link/deep/x":         "",
		root + "/self/x":              "",
		root + "/fd/0/x":              "",
		root + "/plain//deep/x":       "",
		root + "/plain/deep/../x":     "",
		root + "/plain/./x":           "",
		root + "/missing/x":           "",
		root + "/plain/":              "",
		root + "/plain/..":            "",
		"/proc/self/x":                "",
		"/proc/self/cwd/x":            "",
		"/proc/thread-self/root/x":    "",
		"/x":                          "",
		"/" + filepath.Base(root):     "",
		filepath.Join(here, "x.test"): here,
	} {
		p, ok := s.direct(text)
		got := ""
		if ok {
			if got, err = realName(p.dir); err != nil || p.name != filepath.Base(text) {
				t.Errorf("%s: name %q, %v", text, p.name, err)
			}
			_ = unix.Close(p.dir)
		}
		if got != want {
			t.Errorf("%s leads to %q, want %q", text, got, want)
		}
	}
	if s.merged, err = linksOfRoot(); err != nil {
		t.Fatal(err)
	}
	for top, to := range s.merged {
		if p, ok := s.direct("/" + top + "/x"); !ok {
			t.Errorf("/%s is not followed at once", top)
		} else if got, err := realName(p.dir); err != nil || got != to {
			t.Errorf("/%s leads to %q, %v, want %q", top, got, err, to)
		}
		s.merged[top] = root + "/plain" // another place since the start of the Service
		if _, ok := s.direct("/" + top + "/x"); ok {
			t.Errorf("/%s is followed to where it led once", top)
		}
	}
}

func linksOfRoot() (map[string]string, error) {
	root, err := unix.Open("/", pathOnly|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(root) }()
	return merged(root), nil
}
