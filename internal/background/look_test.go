package background

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
)

func TestLastLinesAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Lines: 5}, nil)
	id := w.start(t, "for i in {1..10}; do echo $i; echo -$i >&2; done").ID
	w.ended(t, id)
	o := w.output(t, id)
	if o.Stdout.Text != "6\n7\n8\n9\n10\n" || o.Stdout.Dropped != 10 || o.Stdout.Total != 21 {
		t.Errorf("%+v", o.Stdout)
	}
	if o.Stderr.Text != "-6\n-7\n-8\n-9\n-10\n" || o.Stderr.Dropped != 15 {
		t.Errorf("%+v", o.Stderr)
	}
}

// TestPolling reads a shell as it goes on, in parts that cut lines: nothing comes twice and nothing is missed.
func TestPolling(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, nil)
	id := w.start(t, "for i in {1..200}; do echo line $i; echo err $i >&2; done; until test -e go; do sleep 0.01; done; printf end").ID
	var stdout, stderr strings.Builder
	var since Since
	await.True(t, "everything was read", func() bool {
		o, err := w.Output(id, since, 300)
		if err != nil {
			t.Fatal(err)
		}
		stdout.WriteString(o.Stdout.Text)
		stderr.WriteString(o.Stderr.Text)
		since = Since{o.Stdout.Next, o.Stderr.Next}
		if !o.Shell.Ended() && strings.HasSuffix(stdout.String(), "line 200\n") { // it goes on once this was read
			if err := os.WriteFile(filepath.Join(w.dir, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return o.Shell.Ended() && since.Stdout == o.Stdout.Total && since.Stderr == o.Stderr.Total
	})
	var wantOut, wantErr strings.Builder
	for i := range 200 {
		fmt.Fprintf(&wantOut, "line %d\n", i+1)
		fmt.Fprintf(&wantErr, "err %d\n", i+1)
	}
	wantOut.WriteString("end")
	if diff := cmp.Diff(wantOut.String(), stdout.String()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(wantErr.String(), stderr.String()); diff != "" {
		t.Error(diff)
	}
}

func TestPartialLineIsVisible(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, nil)
	id := w.start(t, "printf 'Password: '; sleep 1000").ID
	w.awaitOutput(t, id, "Password: ")
	if s, err := w.Status(id); err != nil || s.Ended() {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestNoSuchOffset(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, nil)
	id := w.start(t, "echo abc").ID
	w.ended(t, id)
	for _, tc := range []struct {
		since  Since
		stream string
	}{{Since{Stdout: -1}, "stdout"}, {Since{Stdout: 5}, "stdout"}, {Since{Stderr: 1}, "stderr"}} {
		_, err := w.Output(id, tc.since, 0)
		if e := new(OffsetError); !errors.As(err, &e) || e.Stream != tc.stream || !strings.Contains(err.Error(), tc.stream) {
			t.Errorf("%+v: %v", tc.since, err)
		}
	}
	if o, err := w.Output(id, Since{Stdout: 4}, 0); err != nil || o.Stdout.Text != "" || o.Stdout.Next != 4 {
		t.Errorf("the end itself: %+v, %v", o, err)
	}
}

func TestForgets(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		o    Options
		pass time.Duration
		want []int // indexes of what is left of four
	}{
		{"none", Options{}, 59 * time.Minute, []int{0, 1, 2, 3}},
		{"after its time", Options{}, time.Hour, nil},
		{"the oldest of too many", Options{KeepCount: 3}, 0, []int{1, 2, 3}},
		{"the oldest of too much output", Options{KeepBytes: 250}, 0, []int{2, 3}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tc.o, nil)
			running := w.start(t, "sleep 1000")
			var ids, want, got []string
			for range 4 {
				id := w.start(t, "printf %100s").ID
				ids = append(ids, id)
				rec, _, err := w.find(id)
				if err != nil {
					t.Fatal(err)
				}
				<-rec.done // the last may be forgotten as soon as it ends
			}
			w.clock.advance(tc.pass)
			for _, i := range tc.want {
				want = append(want, ids[i])
			}
			for _, s := range w.List() {
				if s.ID != running.ID {
					got = append(got, s.ID)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if _, err := w.Status(ids[0]); (err == nil) != (len(tc.want) == 4) {
				t.Errorf("the first: %v", err)
			}
			if s, err := w.Status(running.ID); err != nil || s.Ended() {
				t.Errorf("what runs is not forgotten: %+v, %v", s, err)
			}
		})
	}
}

// TestFlood reads along while a command writes as fast as it can. What counts is that memory stays
// where the limits put it; the machine decides how much is written.
func TestFlood(t *testing.T) {
	const size, kept = 1 << 20, 1 << 20
	w := newWorld(t, Options{Bytes: size}, func(o *engine.Options) { o.Limits.Output = kept })
	heap := func() uint64 {
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	before := heap()
	ids := []string{
		w.start(t, "yes").ID, w.start(t, "yes | tr -d '\\n'").ID, w.start(t, "yes >&2").ID,
	}
	next := make([]int64, len(ids))
	var most uint64
	written := int64(0) // of the first two
	await.True(t, "what was written is many times what is kept", func() bool {
		written = 0
		for i, id := range ids[:2] {
			o, err := w.Output(id, Since{Stdout: next[i]}, 64<<10)
			if err != nil {
				t.Fatal(err)
			}
			if o.Stdout.Offset != next[i]+o.Stdout.Dropped || o.Stdout.Next != o.Stdout.Offset+int64(len(o.Stdout.Text)) {
				t.Fatalf("asked for %d: offset %d, next %d, dropped %d, %d bytes", next[i], o.Stdout.Offset, o.Stdout.Next, o.Stdout.Dropped, len(o.Stdout.Text))
			}
			next[i] = o.Stdout.Next
			written += o.Stdout.Total
		}
		if now := heap(); now > before {
			most = max(most, now-before)
		}
		return written >= 64*size
	})
	// Of each of the six streams: what is kept here and by the runner; twice, for copies on their way.
	if limit := uint64(6 * 2 * (size + kept)); most > limit {
		t.Errorf("the heap grew by %d bytes, want less than %d", most, limit)
	}
	for _, id := range ids {
		s, _ := w.kill(t, id)
		o := w.output(t, id)
		if s.State != Killed || len(o.Stdout.Text)+len(o.Stderr.Text) > size {
			t.Errorf("%+v, %d bytes kept", s, len(o.Stdout.Text)+len(o.Stderr.Text))
		}
	}
}

// TestManyAtOnce does everything at the same time, for the race detector.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Limit: 4, KeepCount: 5}, nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 6 {
				var s Shell
				var err error
				await.Holds(func() bool {
					s, _, err = w.Start(context.Background(), engine.Request{Command: fmt.Sprintf("echo %d.%d; sleep 0.0%d", i, n, n)})
					limit := new(LimitError)
					return !errors.As(err, &limit)
				})
				if err != nil {
					t.Error(err)
					return
				}
				w.List()
				_, _ = w.Output(s.ID, Since{}, 10)
				if n%2 == 0 {
					_, _, _ = w.Kill(context.Background(), s.ID, "test")
				}
				_, _ = w.Status(s.ID)
			}
		})
	}
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if d, o := w.records.count(engine.KindDecision), w.records.count(engine.KindOutcome); d != o || d == 0 {
		t.Errorf("%d decisions, %d outcomes", d, o)
	}
	if n := len(w.List()); n > 5 {
		t.Errorf("%d are remembered", n)
	}
}
