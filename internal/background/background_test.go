package background

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// What follows are the counterparts of the predecessor's tests of background shells. Its helper
// functions of a module have none: there is no Manager of the whole program, for each server has its own.

func TestStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, nil)
	s := w.start(t, "sleep 1000")
	if !regexp.MustCompile(`^shell_[0-9a-f]{8}$`).MatchString(s.ID) || s.PID <= 0 || s.State != Running || s.Ended() {
		t.Errorf("%+v", s)
	}
	if s.Command != "sleep 1000" || s.WorkDir != w.dir || s.Decision.Effect != engine.Allow || s.Decision.ID == "" {
		t.Errorf("%+v", s)
	}
	if s.StartTime() != "2026-01-05T10:00:00Z" || s.Duration != 0 {
		t.Errorf("started at %s, for %v", s.StartTime(), s.Duration)
	}
	w.clock.advance(90 * time.Second)
	if got, err := w.Status(s.ID); err != nil || got.Duration != 90*time.Second {
		t.Errorf("after 90 s: %v, %v", got.Duration, err)
	}
}

func TestEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, nil)
	for _, tc := range []struct {
		name, text     string
		stdout, stderr string
		want           Shell
	}{
		{"two lines", "echo Line 1; echo Line 2", "Line 1\nLine 2\n", "", Shell{State: Stopped}},
		{"stderr", "echo out; echo oops >&2", "out\n", "oops\n", Shell{State: Stopped}},
		{"a status", "exit 1", "", "", Shell{State: Failed, ExitCode: 1}},
		{"no such command", "no-such-command-here 2>/dev/null", "", "", Shell{State: Failed, ExitCode: 127}},
		{"a signal to itself", "kill -KILL $$", "", "", Shell{State: Killed, ExitCode: 137, Signal: "SIGKILL"}},
		{"a signal to a command in it", "{ (kill -KILL $BASHPID); s=$?; } 2>/dev/null; exit $s", "", "", Shell{State: Failed, ExitCode: 137}},
		{"environment", "echo $GREETING", "hello\n", "", Shell{State: Stopped}},
		{"no last line feed", "printf a", "a", "", Shell{State: Stopped}},
		{"bytes that are no text", `printf 'a\377b\342\202'`, "a\uFFFDb\uFFFD\uFFFD", "", Shell{State: Stopped}},
		{"standard input is empty", "cat; echo done", "done\n", "", Shell{State: Stopped}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := w.start(t, tc.text)
			got := w.ended(t, s.ID)
			want := s
			want.State, want.ExitCode, want.Signal, want.Duration = tc.want.State, tc.want.ExitCode, tc.want.Signal, got.Duration
			if us := w.records.outcome().DurationUS; us != got.Duration.Microseconds() {
				t.Errorf("it took %v; on record are %d µs", got.Duration, us)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			o := w.output(t, s.ID)
			if o.Stdout.Text != tc.stdout || o.Stderr.Text != tc.stderr {
				t.Errorf("output %q, %q, want %q, %q", o.Stdout.Text, o.Stderr.Text, tc.stdout, tc.stderr)
			}
		})
	}
}

func TestWorkDir(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, nil)
	sub := filepath.Join(w.dir, "sub")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	s, _, err := w.Start(context.Background(), engine.Request{Tool: "start_background_shell", Command: "pwd", WorkDir: "sub"})
	if err != nil || s.WorkDir != sub {
		t.Fatalf("%+v, %v", s, err)
	}
	w.ended(t, s.ID)
	if o := w.output(t, s.ID); o.Stdout.Text != sub+"\n" {
		t.Errorf("ran in %q", o.Stdout.Text)
	}
}

func TestSeveral(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, nil)
	var want []string
	for i := range 3 {
		want = append(want, w.start(t, fmt.Sprintf("echo shell %d", i)).ID)
	}
	var got []string
	for _, s := range w.List() {
		got = append(got, s.ID)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for i, id := range want {
		w.ended(t, id)
		if o := w.output(t, id); o.Stdout.Text != fmt.Sprintf("shell %d\n", i) {
			t.Errorf("%s wrote %q", id, o.Stdout.Text)
		}
	}
	if len(w.List()) != 3 {
		t.Error("those that ended are not listed")
	}
}

func TestUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, nil)
	_, status := w.Status("shell_00000000")
	_, output := w.Output("shell_00000000", Since{}, 0)
	_, _, kill := w.Kill(context.Background(), "shell_00000000", "test")
	for _, err := range []error{status, output, kill} {
		if u := new(UnknownError); !errors.As(err, &u) || u.ID != "shell_00000000" || !strings.Contains(err.Error(), `shell not found: "shell_00000000"`) {
			t.Errorf("%v", err)
		}
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Limit: 2}, nil)
	a, b := w.start(t, "sleep 1000"), w.start(t, "sleep 1000")
	_, _, err := w.Start(context.Background(), engine.Request{Command: "touch third"})
	limit := new(LimitError)
	if !errors.As(err, &limit) {
		t.Fatalf("a third: %v", err)
	}
	if diff := cmp.Diff(&LimitError{Limit: 2, Running: []string{a.ID, b.ID}}, limit); diff != "" {
		t.Error(diff)
	}
	for _, part := range []string{"2", a.ID, b.ID, "limits.background"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not name %s", err, part)
		}
	}
	if n := w.records.count(engine.KindDecision); n != 2 {
		t.Errorf("%d decisions for 2 that were judged", n)
	}
	w.kill(t, a.ID)
	w.ended(t, w.start(t, "touch third").ID) // now it runs
	if _, err := os.Stat(filepath.Join(w.dir, "third")); err != nil {
		t.Error(err)
	}
}

// TestLimitHoldsWhileDeciding asks for more at once than may run, each of which waits for a person.
func TestLimitHoldsWhileDeciding(t *testing.T) {
	t.Parallel()
	answer := make(chan struct{})
	w := newWorld(t, Options{Limit: 3}, func(o *engine.Options) {
		o.Approver = approver(func(context.Context) (engine.Approval, error) {
			<-answer
			return engine.Approval{Granted: true, By: "test"}, nil
		})
	})
	var wg sync.WaitGroup
	var mu sync.Mutex
	started, refused := 0, 0
	for range 12 {
		wg.Go(func() {
			s, _, err := w.Start(context.Background(), engine.Request{Command: "sleep 1000 # unclear"})
			mu.Lock()
			defer mu.Unlock()
			if limit := new(LimitError); errors.As(err, &limit) && limit.Starting+len(limit.Running) == 3 {
				refused++
			} else if err == nil && s.ID != "" {
				started++
			} else {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
	await.True(t, "nine are refused", func() bool { mu.Lock(); defer mu.Unlock(); return refused == 9 })
	close(answer)
	wg.Wait()
	if started != 3 {
		t.Errorf("%d started", started)
	}
}

func TestNoneMayRun(t *testing.T) {
	t.Parallel()
	_, _, err := New(Options{}).Start(context.Background(), engine.Request{Command: "true"})
	if limit := new(LimitError); !errors.As(err, &limit) {
		t.Errorf("the zero value starts: %v", err)
	}
}

// TestNotStarted shows what becomes of requests that start nothing, and that they take no slot.
func TestNotStarted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Limit: 1}, nil)
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, tc := range []struct {
		name string
		ctx  context.Context
		r    engine.Request
		want engine.Effect
		fine bool // the decision; something else kept it from starting
	}{
		{"denied", context.Background(), engine.Request{Command: "touch mark # forbidden"}, engine.Deny, false},
		{"nobody to ask", context.Background(), engine.Request{Command: "touch mark # unclear"}, engine.Ask, false},
		{"no such directory", context.Background(), engine.Request{Command: "touch mark", WorkDir: "missing"}, engine.Allow, true},
		{"cancelled", canceled, engine.Request{Command: "touch mark"}, engine.Deny, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, out, err := w.Start(tc.ctx, tc.r)
			if err != nil || s.ID != "" {
				t.Errorf("%+v, %v", s, err)
			}
			if out.Decision.Effect != tc.want || out.Decision.ID == "" || tc.fine && (out.Exit.Error == nil || out.Exit.Code != -1) {
				t.Errorf("%+v", out)
			}
		})
	}
	if _, _, err := w.Start(context.Background(), engine.Request{Command: "true", Timeout: -1}); !errors.Is(err, engine.ErrRequest) {
		t.Errorf("a request that makes no sense: %v", err)
	}
	if len(w.List()) != 0 {
		t.Errorf("%+v", w.List())
	}
	if _, err := os.Stat(filepath.Join(w.dir, "mark")); err == nil {
		t.Error("one of them ran")
	}
	w.ended(t, w.start(t, "touch mark").ID) // the slot is free, and this is what would have happened
	if _, err := os.Stat(filepath.Join(w.dir, "mark")); err != nil {
		t.Error(err)
	}
}

func TestCommandsOutliveTheirRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, nil)
	ctx, cancel := context.WithCancel(context.Background())
	s, _, err := w.Start(ctx, engine.Request{Command: "echo up; sleep 1000"})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	w.awaitOutput(t, s.ID, "up\n")
	if s, err := w.Status(s.ID); err != nil || s.Ended() {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestNoRecordOfTheEnd shows that output is kept back when it could not be put on record how it ended.
func TestNoRecordOfTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, nil)
	w.records.bad = engine.KindOutcome
	s := w.ended(t, w.start(t, "echo secret").ID)
	o := w.output(t, s.ID)
	if s.Fault == "" || s.State != Stopped || o.Stdout.Text != "" || o.Stdout.Total != 7 {
		t.Errorf("%+v", o)
	}
	if _, out, err := w.Start(context.Background(), engine.Request{Command: "true"}); err != nil || out.Ran {
		t.Errorf("another one runs: %+v, %v", out, err)
	}
}

// TestNothingIsHeldAfterTheEnd counts what is open after many shells, some of them killed.
func TestNothingIsHeldAfterTheEnd(t *testing.T) {
	w := newWorld(t, Options{KeepCount: 3}, nil)
	round := func() {
		for i := range 8 {
			id := w.start(t, "echo out").ID
			if i%4 == 0 {
				w.kill(t, id)
			} else {
				w.ended(t, id)
			}
		}
	}
	held := func() (files, routines int) {
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			leftout.Skip(t, leftout.Platform, "no /proc/self/fd: run this on Linux")
		}
		return len(open), runtime.NumGoroutine()
	}
	round()
	files, routines := held()
	for range 3 {
		round()
		// A shell that has just ended may be on its way out; what is held stays.
		await.True(t, fmt.Sprintf("at most %d files and %d goroutines are held", files+5, routines+5), func() bool {
			f, r := held()
			return f <= files+5 && r <= routines+5
		})
	}
	if n := len(w.List()); n != 3 {
		t.Errorf("%d shells are remembered", n)
	}
}
