//go:build amd64 || arm64

package bubblewrap_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/bubblewrap"
)

// opened makes a sandbox.
func opened(t *testing.T, o bubblewrap.Options, l facts.Layout) engine.Environment {
	t.Helper()
	r, err := bubblewrap.New(o)
	if err != nil {
		t.Fatal(err)
	}
	env, err := r.Open(t.Context(), engine.EnvironmentSpec{Layout: l})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { env.Close() })
	return env
}

// TestNearAgrees holds that journeys made from here find the files that the supervisor finds.
func TestNearAgrees(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	ws := filepath.Join(base, "ws")
	for _, dir := range []string{ws + "/sub/deep", ws + "/locked", base + "/hidden"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{ws + "/file", ws + "/locked/in", base + "/hidden/secret"} {
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"etc": "/etc", "up": "../hidden/secret", "loop": "loop", "self": "/proc/self/cwd/file", "sh": "/bin/sh",
		"rel": "sub/../file", "null": "/dev/null", "over": "/../../etc/passwd",
	} {
		if err := os.Symlink(target, filepath.Join(ws, name)); err != nil {
			t.Fatal(err)
		}
	}
	if os.Getuid() == 0 { // in a sandbox root has no rights there
		if err := os.Chown(ws+"/locked", 64_301, 64_301); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(ws+"/locked", 0o700); err != nil {
		t.Fatal(err)
	}
	env := opened(t, settings(t), layout(ws))
	files := env.FS().(facts.Far)
	for _, p := range []string{
		"/", ws, ws + "/none", ws + "/file/x", ws + "/sub/deep/x", ws + "/locked/in", ws + "/locked/none",
		base + "/hidden/secret", "/etc/passwd", "/etc/shadow", "/tmp/x", "/home/agent/.bashrc", "/proc/self/exe",
		"/dev/null", "/usr/bin/env", ws + "/etc/passwd", ws + "/up", ws + "/loop", ws + "/self", ws + "/sh",
		ws + "/rel", ws + "/null", ws + "/over",
	} {
		nodes := files.Walk([]string{p})
		if len(nodes) == 0 {
			t.Errorf("%s: nothing was found", p)
		}
		for at, n := range nodes {
			want := facts.Node{}
			info, err := files.Lstat(at)
			switch {
			case err == nil:
				want.Exists, want.Mode = true, info.Mode()
				if want.Mode&os.ModeSymlink != 0 {
					want.Link, _ = files.ReadLink(at)
				}
			case errors.Is(err, fs.ErrNotExist):
				want.Absent = true
			}
			if n != want {
				t.Errorf("%s, on the way to %s: %+v, and the supervisor finds %+v", at, p, n, want)
			}
		}
	}
}

// TestVenvComesAndGoes holds that kept variables are those of the directories as they are now.
func TestVenvComesAndGoes(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	sub := filepath.Join(ws, "sub")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	o := settings(t)
	o.Venv = "auto"
	env := opened(t, o, layout(ws))
	expect := func(dir, venv string) {
		t.Helper()
		for range 2 { // the second is a kept one
			c, err := env.Prepare("true", dir)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, kv := range c.Env {
				if value, ok := strings.CutPrefix(kv, "VIRTUAL_ENV="); ok {
					got = value
				}
			}
			if got != venv {
				t.Errorf("in %s: virtual environment %q, want %q", dir, got, venv)
			}
			if !slices.Contains(c.Env, "PWD="+dir) || !c.Seen[dir].Exists {
				t.Errorf("in %s: %v, %v", dir, c.Env, c.Seen)
			}
		}
	}
	venv := func(dir string) string {
		if err := os.MkdirAll(filepath.Join(dir, ".venv", "bin"), 0o755); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, ".venv")
	}
	expect(ws, "")
	expect(sub, "")
	outer := venv(ws)
	expect(ws, outer)
	expect(sub, outer)
	inner := venv(sub)
	expect(sub, inner)
	expect(ws, outer)
	if err := os.RemoveAll(inner); err != nil {
		t.Fatal(err)
	}
	expect(sub, outer)
	if err := os.RemoveAll(outer); err != nil {
		t.Fatal(err)
	}
	expect(ws, "")
	expect(sub, "")
	if err := os.Symlink("/proc/self", outer); err != nil { // only the supervisor can tell
		t.Fatal(err)
	}
	expect(ws, "")
}
