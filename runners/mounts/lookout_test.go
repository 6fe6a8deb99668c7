package mounts

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/await"
)

// watched is a writable place with one repository, and who is told of others.
func watched(t *testing.T) (l *Lookout, dir string, told chan string, busy *atomic.Bool, looked *atomic.Int64) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	repository(t, filepath.Join(dir, "old"))
	roots := []facts.Root{{Path: dir, Write: true}}
	found, err := Protect(roots, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	told, busy, looked = make(chan string, 10), &atomic.Bool{}, &atomic.Int64{}
	l = LookOut(roots, "", found, 0, func() bool { looked.Add(1); return busy.Load() }, func(r, _ string) { told <- r })
	l.pause = time.Millisecond
	return l, dir, told, busy, looked
}

func repository(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, ".git", "hooks"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// next waits for what is told.
func next(t *testing.T, told chan string) string {
	t.Helper()
	return await.Receive(t, "repository that is told of", told)
}

// TestLookout: a repository is told of while the session goes on, once; one that is made anew is told of anew.
func TestLookout(t *testing.T) {
	t.Parallel()
	l, dir, told, busy, looked := watched(t)
	repository(t, filepath.Join(dir, "new"))
	l.Ran()
	if got, want := next(t, told), filepath.Join(dir, "new/.git"); got != want {
		t.Errorf("told of %s, want %s", got, want)
	}
	busy.Store(true)
	l.Ran()
	looks := looked.Load()
	await.True(t, "it is looked while they run", func() bool { return looked.Load() > looks+1 })
	repository(t, filepath.Join(dir, "later")) // by what was started long ago and runs on
	if got, want := next(t, told), filepath.Join(dir, "later/.git"); got != want {
		t.Errorf("told of %s, want %s", got, want)
	}
	busy.Store(false)
	l.Close()
	l.Close()
	l.Ran()
	if len(told) != 0 {
		t.Errorf("told of %s again", <-told)
	}
}

// TestLastLook: at the end it is told what came up since, and afterwards nothing.
func TestLastLook(t *testing.T) {
	t.Parallel()
	l, dir, told, _, _ := watched(t)
	if err := os.RemoveAll(filepath.Join(dir, "old")); err != nil {
		t.Fatal(err)
	}
	l.look(false)
	repository(t, filepath.Join(dir, "old"))
	l.Close()
	if got, want := next(t, told), filepath.Join(dir, "old/.git"); got != want {
		t.Errorf("told of %s, want %s", got, want)
	}
	repository(t, filepath.Join(dir, "after"))
	l.look(false)
	if len(told) != 0 {
		t.Errorf("told of %s after the end", <-told)
	}
}

// TestNoLookout: where looking takes long nobody looks again.
func TestNoLookout(t *testing.T) {
	t.Parallel()
	l := LookOut(nil, "", Protection{}, lookAgain+1, nil, nil)
	if l != nil {
		t.Error("it looks again")
	}
	l.Ran()
	l.Close()
	if got, want := LookOut(nil, "", Protection{}, time.Second, nil, nil).pause, share*time.Second; got != want {
		t.Error(cmp.Diff(want, got))
	}
}
