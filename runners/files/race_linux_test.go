package files

import (
	"io/fs"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/engine"
)

// rounds is how often a path is used while it is being swapped. The naive way, in the same race, is
// through after a few.
const rounds = 500

// swap exchanges a directory or file with a link to a victim, and back, until the test ends. The
// place is one of the two at any time, and never missing.
func swap(t *testing.T, place, victim string) {
	t.Helper()
	link(t, victim, place+".link")
	stop := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := unix.Renameat2(unix.AT_FDCWD, place, unix.AT_FDCWD, place+".link", unix.RENAME_EXCHANGE); err != nil {
				t.Errorf("exchange: %v", err)
				return
			}
		}
	})
	t.Cleanup(func() {
		close(stop)
		done.Wait()
	})
}

// race tries to get from a directory that is being swapped into a victim. act is done again and again;
// reached says whether it got there.
func race(t *testing.T, file string, act func(path string), reached func(victim string) bool, most int) bool {
	t.Helper()
	dir := scratch(t)
	put(t, dir+"/ws/victim/keep", "secret")
	put(t, dir+"/ws/d/keep", "plain")
	swap(t, dir+"/ws/d", "victim") // beside it: os.Root alone would follow that
	for range most {
		act(dir + "/ws/d/" + file)
		if reached(dir + "/ws/victim") {
			return true
		}
	}
	return false
}

func TestRaceForADirectory(t *testing.T) {
	t.Parallel()
	var seen string
	untouched := engine.WriteOptions{Replace: true}
	for name, c := range map[string]struct {
		file    string
		naive   func(path string)
		ours    func(h Host, path string)
		reached func(victim string) bool
	}{
		"write": {"new",
			func(p string) { _ = os.WriteFile(p, []byte("x"), 0o644) },
			func(h Host, p string) { _ = write(h, p, "x", untouched) },
			func(victim string) bool { return exists(victim + "/new") }},
		"delete": {"keep",
			func(p string) { _ = os.Remove(p) },
			func(h Host, p string) { _ = h.Remove(p) },
			func(victim string) bool { return !exists(victim + "/keep") }},
		"make directory": {"sub/dir",
			func(p string) { _ = os.MkdirAll(p, 0o755) },
			func(h Host, p string) { _ = h.Mkdir(p) },
			func(victim string) bool { return exists(victim + "/sub") }},
		"link": {"l",
			func(p string) { _ = os.Symlink("x", p) },
			func(h Host, p string) { _ = h.Symlink("x", p) },
			func(victim string) bool { _, err := os.Lstat(victim + "/l"); return err == nil }},
	} {
		t.Run(name, func(t *testing.T) {
			if !race(t, c.file, c.naive, c.reached, 4000*rounds) {
				t.Fatal("the naive way was never led astray: this test shows nothing")
			}
			for way, h := range map[string]Host{"system": {}, "stepwise": {stepwise: true}} {
				if race(t, c.file, func(p string) { c.ours(h, p) }, c.reached, rounds) {
					t.Errorf("%s: the victim was reached", way)
				}
			}
		})
	}
	t.Run("read", func(t *testing.T) {
		reached := func(string) bool { return seen == "secret" }
		naive := func(p string) { b, _ := os.ReadFile(p); seen = string(b) }
		if !race(t, "keep", naive, reached, 4000*rounds) {
			t.Fatal("the naive way was never led astray: this test shows nothing")
		}
		for way, h := range map[string]Host{"system": {}, "stepwise": {stepwise: true}} {
			seen = ""
			if race(t, "keep", func(p string) { seen, _ = read(h, p) }, reached, rounds) {
				t.Errorf("%s: the victim was read", way)
			}
		}
	})
	t.Run("list", func(t *testing.T) {
		var size int64
		look := func(info fs.FileInfo, err error) {
			if size = 0; err == nil {
				size = info.Size()
			}
		}
		reached := func(string) bool { return size == int64(len("secret")) }
		if !race(t, "keep", func(p string) { look(os.Lstat(p)) }, reached, 4000*rounds) {
			t.Fatal("the naive way was never led astray: this test shows nothing")
		}
		for way, h := range map[string]Host{"system": {}, "stepwise": {stepwise: true}} {
			size = 0
			if race(t, "keep", func(p string) { look(h.Lstat(p)) }, reached, rounds) {
				t.Errorf("%s: the victim was looked at", way)
			}
		}
	})
}

// The last name of a path is swapped for a link to a file.
func TestRaceForAFile(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	put(t, dir+"/victim", "secret")
	put(t, dir+"/f", "plain")
	swap(t, dir+"/f", "victim")
	naive := func() bool {
		for range 1000 * rounds {
			if b, _ := os.ReadFile(dir + "/f"); string(b) == "secret" {
				return true
			}
		}
		return false
	}
	if !naive() {
		t.Fatal("the naive way was never led astray: this test shows nothing")
	}
	for way, h := range map[string]Host{"system": {}, "stepwise": {stepwise: true}} {
		for range rounds {
			if got, _ := read(h, dir+"/f"); got == "secret" {
				t.Fatalf("%s: the victim was read", way)
			}
			_ = write(h, dir+"/f", "new", engine.WriteOptions{Replace: true})
			if got := content(t, dir+"/victim"); got != "secret" {
				t.Fatalf("%s: the victim holds %q", way, got)
			}
		}
	}
}
