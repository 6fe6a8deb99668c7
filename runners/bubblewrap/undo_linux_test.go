//go:build amd64 || arm64

package bubblewrap_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/runners/bubblewrap"
	"github.com/sallyport-dev/sallyport/runners/undo"
)

// recording are settings with a store of changed files, and the directory of the store.
func recording(t testing.TB) (bubblewrap.Options, string) {
	t.Helper()
	o := settings(t)
	o.Undo = undo.Options{Dir: filepath.Join(t.TempDir(), "undo"), Most: 1 << 30, Keep: time.Hour}
	return o, o.Undo.Dir
}

// What a command changes in a sandbox is taken back, and the store is out of its reach.
func TestUndo(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	host(t, `cd "$WS"; echo secret-of-old > f; mkdir d; echo two > d/g; git init -q`, "WS="+ws)
	o, dir := recording(t)
	env := open(t, o, layout(ws))
	const text = "echo new > f; rm -r d; mkdir n; echo n > n/n; echo x > .git/config; rm -r .git/hooks"
	x, _ := doAsked(t, env, ws, text, &asker{})
	for _, text := range []string{
		"ls -d " + dir, "ls -d " + filepath.Dir(dir), "ls /proc/1/cwd/", "cat /proc/1/fd/*",
		`for i in {3..99}; do ls /proc/self/fd/$i/ && exit; done 2> /dev/null; false`,
		`for i in {3..99}; do ls /proc/1/fd/$i/ && exit; done 2> /dev/null; false`,
	} {
		if x, _ := doAsked(t, env, ws, text, &asker{}); x.Code == 0 || strings.Contains(x.Stdout.Text, "journal") {
			t.Errorf("%s: status %d: %s", text, x.Code, x.Stdout.Text)
		}
	}
	sessions, err := undo.List(dir)
	if err != nil || len(sessions) != 1 {
		t.Fatalf("%v, %v", sessions, err)
	}
	results, err := undo.Undo(dir, sessions[0], []string{"D-names"}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Left() && !strings.HasPrefix(r.Path, ws+"/.git/") {
			t.Errorf("%+v (%s)", r, x.Stderr.Text)
		}
	}
	for name, want := range map[string]string{"f": "secret-of-old\n", "d/g": "two\n"} {
		if got, err := os.ReadFile(filepath.Join(ws, name)); string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(ws, "n")); err == nil {
		t.Error("the made directory is there")
	}
	if err := env.Close(); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
}

// A sandbox in which nothing changes leaves no store.
func TestNothingToUndo(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	o, dir := recording(t)
	env := open(t, o, layout(ws))
	doAsked(t, env, ws, "echo x > /tmp/x; ls > /dev/null", &asker{})
	if err := env.Close(); err != nil {
		t.Error(err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 0 {
		t.Errorf("%v, %v", names, err)
	}
}
