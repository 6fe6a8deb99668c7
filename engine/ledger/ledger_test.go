package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/build"
)

func open(t *testing.T, dir, session string) *Ledger {
	t.Helper()
	l, err := Open(dir, session)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func seen(t *testing.T, l *Ledger, want map[string]string) {
	t.Helper()
	for p, w := range want {
		if got := l.Seen(p); got != w {
			t.Errorf("Seen(%q) = %q, want %q", p, got, w)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestNotes runs in memory and with a file; the file's notes must be there after a restart too.
func TestNotes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"memory", "file"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := ""
			if name == "file" {
				dir = filepath.Join(t.TempDir(), "state", "ledger")
			}
			l := open(t, dir, "s")
			must(t, l.Read("/w/read", "/w/both", "/w/d/a", "/w/gone", "/w/tree/x", "/w/treetop"))
			must(t, l.Created("/w/new", "/w/both"))
			must(t, l.Read("/w/new")) // reading what it created changes nothing
			must(t, l.Download("/w/dl", "/w/archive"))
			must(t, l.Forget("/w/gone", "/w/tree"))
			must(t, l.Rename("/w/d", "/w/e"))
			must(t, l.Rename("/w/dl", "/w/moved"))
			check := func(l *Ledger) {
				t.Helper()
				seen(t, l, map[string]string{
					"/w/read": SeenRead, "/w/./x/../read": SeenRead, "/w/new": SeenCreated, "/w/both": SeenCreated, "/w/other": SeenNone, "": SeenNone,
					"/w/gone": SeenNone, "/w/tree/x": SeenNone, "/w/treetop": SeenRead, "/w/d/a": SeenNone, "/w/e/a": SeenRead, "/w/dl": SeenNone,
				})
				for p, want := range map[string]bool{"/w/moved": true, "/w/dl": false, "/w/archive/deep/file": true, "/w/archives": false, "/": false, "": false} {
					if got := l.Downloaded(p); got != want {
						t.Errorf("Downloaded(%q) = %v", p, got)
					}
				}
			}
			check(l)
			if dir != "" {
				check(open(t, dir, "s"))
				seen(t, open(t, dir, "other"), map[string]string{"/w/read": SeenNone})
			}
		})
	}
}

func TestNil(t *testing.T) {
	t.Parallel()
	var l *Ledger
	must(t, l.Read("/x"))
	must(t, l.Begin(nil, nil).End(nil, 0))
	must(t, l.Close())
	if l.Seen("/x") != SeenNone || l.Downloaded("/x") {
		t.Error("the nil ledger remembers something")
	}
}

func TestRenameOntoKnown(t *testing.T) {
	t.Parallel()
	l := open(t, "", "")
	must(t, l.Read("/known"))
	must(t, l.Rename("/unknown", "/known")) // now another file has that name
	seen(t, l, map[string]string{"/known": SeenNone})
}

func TestSharedBetweenLedgers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o700))
	a, b := open(t, dir, "s"), open(t, dir, "s")
	must(t, a.Read("/x"))
	seen(t, b, map[string]string{"/x": SeenRead})
	must(t, b.Forget("/x"))
	seen(t, a, map[string]string{"/x": SeenNone})
	must(t, b.Download("/y"))
	if !a.Downloaded("/y") {
		t.Error("a download noted by one ledger is not known to the other")
	}
}

func TestBound(t *testing.T) {
	t.Parallel()
	l := open(t, "", "")
	must(t, l.Download("/dl"))
	for i := range MaxEntries + MaxEntries/2 {
		must(t, l.Read(fmt.Sprint("/r", i)))
	}
	if n := len(l.entries); n > MaxEntries+MaxEntries/10 {
		t.Errorf("%d entries", n)
	}
	seen(t, l, map[string]string{"/r0": SeenNone, fmt.Sprint("/r", MaxEntries+MaxEntries/2-1): SeenRead})
	if !l.Downloaded("/dl") || l.Downloaded("/other") {
		t.Error("reads pushed a download out")
	}
	must(t, l.Created("/mine"))
	for i := range 2 * MaxEntries {
		must(t, l.Download(fmt.Sprint("/d", i)))
	}
	must(t, l.Created("/mine"))
	if !l.Downloaded("/dl") || !l.Downloaded("/other") || l.Downloaded("/mine") {
		t.Error("with downloads forgotten, what is not created here must count as downloaded")
	}
}

func TestRewrite(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "ledger")
	l := open(t, dir, "s")
	other := open(t, dir, "s")
	l.store.next = 4096
	must(t, l.Download("/keep"))
	for i := range 200 {
		p := fmt.Sprint("/", i)
		must(t, l.Read(p))
		must(t, l.Forget(p))
	}
	must(t, l.Read("/last"))
	info, err := os.Stat(filepath.Join(dir, fileName("s")))
	must(t, err)
	if runtime.GOOS != "windows" && info.Size() > 8192 {
		t.Errorf("the file has %d bytes", info.Size())
	}
	must(t, other.Read("/o"))
	for _, l := range []*Ledger{l, other, open(t, dir, "s")} {
		seen(t, l, map[string]string{"/last": SeenRead, "/o": SeenRead, "/7": SeenNone})
		if !l.Downloaded("/keep") {
			t.Error("a rewrite lost a download")
		}
	}
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "ledger")
	const writers, each = 8, 40
	var group sync.WaitGroup
	for w := range writers {
		l := open(t, dir, "s")
		l.store.next = 2048 // rewrites in between
		for g := range 2 {
			group.Go(func() {
				for i := range each {
					p := fmt.Sprintf("/%d/%d/%d", w, g, i)
					err := errors.Join(l.Read(p), l.Read(p+"x"), l.Forget(p+"x"))
					if err != nil || l.Seen(p) != SeenRead {
						t.Errorf("%s: %v %s", p, err, l.Seen(p))
					}
				}
			})
		}
	}
	group.Wait()
	l := open(t, dir, "s")
	for w := range writers {
		for g := range 2 {
			for i := range each {
				p := fmt.Sprintf("/%d/%d/%d", w, g, i)
				seen(t, l, map[string]string{p: SeenRead, p + "x": SeenNone})
			}
		}
	}
}

func TestPrune(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "ledger")
	if n, err := Prune(dir, time.Now()); n != 0 || err != nil {
		t.Errorf("no directory: %d, %v", n, err)
	}
	must(t, open(t, dir, "old").Close())
	must(t, open(t, dir, "new").Close())
	must(t, os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600))
	past := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(filepath.Join(dir, fileName("old")), past, past))
	must(t, os.Chtimes(filepath.Join(dir, "notes.txt"), past, past))
	n, err := Prune(dir, time.Now().Add(-time.Minute))
	if n != 1 || err != nil {
		t.Errorf("Prune = %d, %v", n, err)
	}
	left, err := os.ReadDir(dir)
	must(t, err)
	if len(left) != 2 {
		t.Errorf("left: %v", left)
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := Open(dir, "s")
	if err != nil {
		t.Fatal(err)
	}
	for _, note := range []error{
		l.Label("/a/x", []string{"people"}), l.Label("/a/x", []string{"customer"}), l.Label("/d", []string{"key"}),
		l.Rename("/a/x", "/a/y"), l.Label("/gone", []string{"key"}), l.Forget("/gone"),
	} {
		if note != nil {
			t.Fatal(note)
		}
	}
	again, err := Open(dir, "s") // as another process has it
	if err != nil {
		t.Fatal(err)
	}
	for _, open := range []*Ledger{l, again} {
		for _, c := range []struct {
			path  string
			below bool
			want  string
		}{
			{"/a/y", false, "customer people"}, {"/a/x", false, ""},
			{"/a", false, ""}, {"/a", true, "customer people"},
			{"/d/e/f", false, "key"}, {"/", true, "customer key people"}, {"/gone", false, ""},
		} {
			if got := strings.Join(open.Labels(c.path, c.below), " "); got != c.want {
				t.Errorf("labels of %s: %q, want %q", c.path, got, c.want)
			}
		}
		if err := open.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestLabelsOfCopies holds that a run leaves the labels of its sources on the files that it wrote.
func TestLabelsOfCopies(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.ToSlash(dir)
	l, err := Open("", "")
	if err != nil {
		t.Fatal(err)
	}
	build := build.NewBuilder(facts.Layout{
		Workspace: dir, Roots: []facts.Root{{Path: dir, Write: true, Zone: "workspace"}},
		Labels: []facts.PathLabel{{Name: "customer", Patterns: []string{dir + "/data/**"}}},
	}, facts.OSFS{}, l)
	run := func(text string, makes ...string) *facts.Input {
		in := build.Build(facts.Ask{Request: facts.Request{Command: text}})
		n := l.Begin(in, facts.OSFS{})
		for _, name := range makes {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := n.End(facts.OSFS{}, 0); err != nil {
			t.Fatal(err)
		}
		return in
	}
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	run("echo x > data/a.csv", "data/a.csv")
	run("cp data/a.csv b.csv", "b.csv")
	run("cat b.csv | sort > c.csv", "c.csv")
	run("echo x > d.csv", "d.csv")
	for name, want := range map[string]string{"b.csv": "customer", "c.csv": "customer", "d.csv": ""} {
		in := run("cat " + name)
		if got := strings.Join(in.Paths[0].OperatorLabels, " "); got != want {
			t.Errorf("%s has %q, want %q", name, got, want)
		}
	}
}
