package journal

import (
	"sync"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/await"
)

// TestReleaseWhileWritten: the last command of an environment writes its end while that is closed, and
// neither waits for the other without end. The file is closed after both.
func TestReleaseWhileWritten(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir(), Warn: func(err error) { t.Error(err) }}.withDefaults()
	id := Identity{Runner: "r"}
	l := newLog(o, id, id.Name())
	l.hold()
	l.write(Event{Event: KindStep, Step: "s"})
	l.writing.Lock() // as a writer does, which asks then whether the log is held
	var released sync.WaitGroup
	released.Go(l.release)
	await.True(t, "the writer goes on", func() bool {
		if !l.mu.TryLock() {
			return false
		}
		defer l.mu.Unlock()
		return l.held == nil
	})
	l.writing.Unlock()
	released.Wait()
	if l.file != nil {
		t.Error("the file is open after the release")
	}
}
