package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

func TestHostileSessions(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir := filepath.Join(top, "ledger")
	ids := []string{"../x", "a/b", "..", "x\x00y", "\xff", strings.Repeat("long", 2500), "CON", "a\nb", " "}
	for i, id := range ids {
		must(t, open(t, dir, id).Read(fmt.Sprint("/", i)))
	}
	for i, id := range ids {
		l := open(t, dir, id)
		seen(t, l, map[string]string{fmt.Sprint("/", i): SeenRead, fmt.Sprint("/", (i+1)%len(ids)): SeenNone})
	}
	files, err := os.ReadDir(dir)
	must(t, err)
	if len(files) != len(ids) {
		t.Errorf("%d files for %d sessions", len(files), len(ids))
	}
	around, err := os.ReadDir(top)
	must(t, err)
	if len(around) != 1 {
		t.Errorf("something was written beside the directory: %v", around)
	}
	must(t, open(t, dir, "").Read("/x")) // no session: nothing is shared
	seen(t, open(t, dir, ""), map[string]string{"/x": SeenNone})
}

func TestModes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		leftout.Skip(t, leftout.Platform, "windows has no permission bits")
	}
	dir := filepath.Join(t.TempDir(), "ledger")
	must(t, open(t, dir, "s").Read("/x"))
	for p, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, fileName("s")): 0o600} {
		info, err := os.Stat(p)
		must(t, err)
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", p, got, want)
		}
	}
	must(t, os.Chmod(dir, 0o777))
	if _, err := Open(dir, "s"); err == nil {
		t.Error("a directory that anybody may write was accepted")
	}
	must(t, os.Chmod(dir, 0o700))
	open(t, dir, "s")
}

func TestNotAFile(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "ledger")
	must(t, os.Mkdir(dir, 0o700))
	target := filepath.Join(t.TempDir(), "target")
	must(t, os.WriteFile(target, nil, 0o600))
	if err := os.Symlink(target, filepath.Join(dir, fileName("link"))); err != nil {
		leftout.Skip(t, leftout.Platform, "no symbolic links here: "+err.Error())
	}
	must(t, os.Mkdir(filepath.Join(dir, fileName("dir")), 0o700))
	for _, session := range []string{"link", "dir"} {
		if l, err := Open(dir, session); err == nil {
			l.Close()
			t.Errorf("a %s in the place of the file was accepted", session)
		}
	}
	open(t, dir, "plain")
}

func TestTornLines(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "ledger")
	l := open(t, dir, "s")
	must(t, l.Read("/a"))
	path := filepath.Join(dir, fileName("s"))
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString("garbage\n\n{\"op\":\"later\",\"path\":\"/b\"}\n{\"op\":\"read\",\"path\":\"/torn")
	must(t, err)
	f.Close()
	fresh := open(t, dir, "s")
	seen(t, fresh, map[string]string{"/a": SeenRead, "/torn": SeenNone, "/b": SeenNone})
	must(t, fresh.Created("/c"))
	for _, l := range []*Ledger{l, fresh, open(t, dir, "s")} {
		seen(t, l, map[string]string{"/a": SeenRead, "/torn": SeenNone, "/c": SeenCreated})
	}
}

func TestPathsThatAreNotText(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "ledger")
	odd := []string{"/a\xffb", "/a\nb", "/a\"b", "/\u2028", "/{"}
	must(t, open(t, dir, "s").Download(odd...))
	l := open(t, dir, "s")
	for _, p := range odd {
		if !l.Downloaded(p) {
			t.Errorf("%q is not known after a restart", p)
		}
	}
	if l.Downloaded("/a\ufffdb") {
		t.Error("a path became another one")
	}
}

func TestRemovedFile(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "ledger")
	l := open(t, dir, "s")
	must(t, l.Read("/a"))
	if err := os.Remove(filepath.Join(dir, fileName("s"))); err != nil {
		leftout.Skip(t, leftout.Platform, "an open file cannot be removed here: "+err.Error())
	}
	must(t, l.Read("/b"))
	seen(t, l, map[string]string{"/a": SeenRead, "/b": SeenRead})
	seen(t, open(t, dir, "s"), map[string]string{"/b": SeenRead})
}

// TestOwedNotes: a download that did not reach the file goes with the next note, for other processes and
// for the time after a restart.
func TestOwedNotes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := Open(dir, "s")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	writable := l.store.file
	if l.store.file, err = os.Open(l.store.path); err != nil { // as on a full disk
		t.Fatal(err)
	}
	if err := errors.Join(l.Download("/w/a"), l.Label("/w/b", []string{"x"})); err == nil {
		t.Fatal("the notes were written")
	}
	_ = l.store.file.Close()
	l.store.file = writable
	if err := errors.Join(l.Download("/w/a"), l.Read("/w/c")); err != nil {
		t.Fatal(err)
	}
	other, err := Open(dir, "s")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if !other.Downloaded("/w/a") || len(other.Labels("/w/b", false)) != 1 {
		t.Errorf("downloaded %v, labels %v", other.Downloaded("/w/a"), other.Labels("/w/b", false))
	}
}
