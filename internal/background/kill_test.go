package background

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
)

func TestKill(t *testing.T) {
	t.Parallel()
	grace := func(d time.Duration) func(*engine.Options) {
		return func(o *engine.Options) { o.Limits.Grace = d }
	}
	for _, tc := range []struct {
		name, text, signal string
		grace              time.Duration
		code               int
	}{
		{"it obeys", "echo up; exec sleep 1000", "SIGTERM", 2 * await.Guard, 143},
		{"it is deaf to TERM", "trap '' TERM; echo up; while :; do sleep 1000; done", "SIGKILL", 200 * time.Millisecond, 137},
		{"it cleans up and exits", "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.1; done", "", 2 * await.Guard, 0},
		{"it is stopped", "echo up; kill -STOP $$; sleep 1000", "SIGTERM", 2 * await.Guard, 143},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, Options{}, grace(tc.grace))
			s := w.start(t, tc.text)
			w.awaitOutput(t, s.ID, "up\n")
			got, already := w.kill(t, s.ID)
			if already || got.State != Killed || got.Signal != tc.signal || got.ExitCode != tc.code || got.Reason != "test" || got.TimedOut {
				t.Errorf("already %v, %+v", already, got)
			}
			// What is said once is said again.
			if again, err := w.Status(s.ID); err != nil || again.State != got.State || again.Duration != got.Duration {
				t.Errorf("%+v, %v", again, err)
			}
			if again, already := w.kill(t, s.ID); !already || again.State != Killed || again.Signal != "" {
				t.Errorf("a second kill: already %v, %+v", already, again)
			}
			if n := w.records.count(engine.KindOutcome); n != 1 {
				t.Errorf("%d outcomes on record", n)
			}
		})
	}
}

func TestKillAfterTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, nil)
	for text, want := range map[string]State{"exit 0": Stopped, "exit 3": Failed} {
		id := w.start(t, text).ID
		w.ended(t, id)
		if s, already := w.kill(t, id); !already || s.State != want || s.Signal != "" || s.Reason != "" {
			t.Errorf("%s: already %v, %+v", text, already, s)
		}
	}
}

// TestKillReachesAll kills a shell whose child ignores TERM in a process group of its own. The child holds a
// pipe open, which ends only with the last process that does.
func TestKillReachesAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, func(o *engine.Options) { o.Limits.Grace = 100 * time.Millisecond })
	s := w.start(t, "mkfifo held; set -m; (trap '' TERM; exec >held; echo child; while :; do sleep 1000; done) & wait")
	await.True(t, "there is a pipe", func() bool { _, err := os.Stat(filepath.Join(w.dir, "held")); return err == nil })
	held, err := os.Open(filepath.Join(w.dir, "held"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if _, err := io.ReadFull(held, make([]byte, len("child\n"))); err != nil {
		t.Fatal(err)
	}
	if s, _ := w.kill(t, s.ID); s.Survivors != 0 {
		t.Errorf("%+v", s)
	}
	ended := make(chan error, 1)
	go func() { _, err := io.ReadAll(held); ended <- err }()
	if err := await.Receive(t, "end of the child's pipe", ended); err != nil {
		t.Error(err)
	}
}

func TestTimeoutIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, func(o *engine.Options) { o.Limits.Grace = 2 * await.Guard }) // TERM is enough, whenever it arrives
	s, _, err := w.Start(context.Background(), engine.Request{Command: "sleep 1000", Timeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if s = w.ended(t, s.ID); s.State != Killed || !s.TimedOut || s.Signal != "SIGTERM" || s.Reason != "" {
		t.Errorf("%+v", s)
	}
	if s, already := w.kill(t, s.ID); !already || !s.TimedOut || s.Signal != "" {
		t.Errorf("already %v, %+v", already, s)
	}
}

func TestKillThatIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, func(o *engine.Options) { o.Limits.Grace = 2 * time.Second })
	s := w.start(t, "trap '' TERM; echo up; while :; do sleep 1000; done")
	w.awaitOutput(t, s.ID, "up\n")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got, _, err := w.Kill(ctx, s.ID, "test"); !errors.Is(err, context.Canceled) || got.State != Running {
		t.Errorf("%+v, %v", got, err)
	}
	if got := w.ended(t, s.ID); got.State != Killed || got.Signal != "SIGKILL" {
		t.Errorf("%+v", got)
	}
}

// TestCloseEndsAllAtOnce closes shells of which each ends only when TERM has reached all of them. One after the
// other they would never end: the grace period of the first is longer than this test.
func TestCloseEndsAllAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, func(o *engine.Options) { o.Limits.Grace = 2 * await.Guard })
	var ids []string
	for i := range 6 {
		ids = append(ids, w.start(t, fmt.Sprintf(`trap 'touch told%d; until test -e told0 -a -e told1 -a -e told2 -a -e told3 -a -e told4 -a -e told5
do sleep 0.01; done; trap - TERM; kill -TERM $$' TERM; echo up; while :; do sleep 0.01; done`, i)).ID)
	}
	for _, id := range ids {
		w.awaitOutput(t, id, "up\n")
	}
	closed := make(chan error, 1)
	go func() { closed <- w.Close() }()
	if err := await.Receive(t, "end of Close", closed); err != nil {
		t.Error(err)
	}
	for _, id := range ids {
		if s, err := w.Status(id); err != nil || s.State != Killed || s.Signal != "SIGTERM" || s.Reason != "server closed" {
			t.Errorf("%+v, %v", s, err)
		}
	}
	if _, _, err := w.Start(context.Background(), engine.Request{Command: "true"}); err == nil || !strings.Contains(err.Error(), "closing") {
		t.Errorf("start after close: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

// TestCloseWhileAPersonIsAsked closes before the answer: nothing may start any more.
func TestCloseWhileAPersonIsAsked(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	w := newWorld(t, Options{}, func(o *engine.Options) {
		o.Approver = approver(func(ctx context.Context) (engine.Approval, error) {
			close(asked)
			<-ctx.Done()
			return engine.Approval{Granted: true, By: "too late"}, nil
		})
	})
	mark := filepath.Join(w.dir, "mark")
	var wg sync.WaitGroup
	wg.Go(func() {
		s, out, err := w.Start(context.Background(), engine.Request{Command: "touch mark # unclear"})
		if err != nil || s.ID != "" || out.Ran || out.Approval == nil || out.Approval.Granted {
			t.Errorf("%+v, %+v, %v", s, out, err)
		}
	})
	<-asked
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if _, err := os.Stat(mark); err == nil {
		t.Error("it ran")
	}
}
