package journal

import (
	"sync"
	"testing"
)

// TestReleaseWhileWritten: the last command of an environment writes its end while the environment is closed, and
// neither waits for the other without end. The file is closed after both.
func TestReleaseWhileWritten(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir(), Warn: func(err error) { t.Error(err) }}.withDefaults()
	id := Identity{Runner: "r"}
	for range 200 {
		l := newLog(o, id, id.Name())
		l.hold()
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { l.write(Event{Event: KindStep, Step: "s"}) })
		}
		all.Go(l.release)
		all.Wait()
		if l.file != nil {
			t.Fatal("the file is open after the release")
		}
	}
}
