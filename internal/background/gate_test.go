package background

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/local"
)

// judge allows what it is asked, but for texts that say otherwise.
type judge struct{}

func (judge) Policy() engine.PolicyInfo { return engine.PolicyInfo{Revision: "test"} }

func (judge) Evaluate(_ context.Context, in *facts.Input) (engine.Judgement, error) {
	switch text := in.Request.Command; {
	case !in.Request.Background:
		return engine.Judgement{Effect: engine.Deny}, nil
	case strings.Contains(text, "forbidden"):
		return engine.Judgement{Effect: engine.Deny, Reasons: []engine.Reason{{Rule: "test/forbidden", Effect: engine.Deny}}}, nil
	case strings.Contains(text, "unclear"):
		return engine.Judgement{Effect: engine.Ask, Reasons: []engine.Reason{{Rule: "test/unclear", Effect: engine.Ask}}}, nil
	}
	return engine.Judgement{Effect: engine.Allow}, nil
}

// records counts what is recorded, and can refuse a kind.
type records struct {
	mu    sync.Mutex
	kinds map[engine.Kind]int
	last  engine.OutcomeBody
	bad   engine.Kind
}

func (r *records) Record(_ context.Context, all ...engine.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rec := range all {
		if rec.Kind == r.bad {
			return os.ErrPermission
		}
		r.kinds[rec.Kind]++
		if body, ok := rec.Body.(engine.OutcomeBody); ok {
			r.last = body
		}
	}
	return nil
}

// outcome is the last one on record.
func (r *records) outcome() engine.OutcomeBody {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

func (r *records) count(k engine.Kind) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kinds[k]
}

type approver func(context.Context) (engine.Approval, error)

func (a approver) Approve(ctx context.Context, _ engine.ApprovalRequest) (engine.Approval, error) {
	return a(ctx)
}

// world is a Manager over a real gate, whose commands really run on this machine.
type world struct {
	*Manager
	dir     string
	records *records
	clock   *clock
}

// clock is a Manager's clock. Only the test advances it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newWorld(t *testing.T, o Options, mend func(*engine.Options)) *world {
	t.Helper()
	leftout.Command(t, "bash")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r, err := local.New(local.Options{Host: []string{"PATH=" + os.Getenv("PATH"), "GREETING=hello"}, Env: []string{"GREETING"}})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{dir: dir, records: &records{kinds: map[engine.Kind]int{}}, clock: &clock{now: time.Date(2026, 1, 5, 10, 0, 0, 0, time.UTC)}}
	eo := engine.Options{
		Layout:     facts.Layout{Workspace: dir, Roots: []facts.Root{{Path: dir, Write: true, Zone: "workspace"}}},
		Evaluators: []engine.Evaluator{judge{}}, Runner: r, Recorder: w.records, Limits: engine.Limits{Judge: await.Guard, Timeout: 2 * await.Guard},
	}
	if mend != nil {
		mend(&eo)
	}
	gate, err := engine.New(eo)
	if err != nil {
		t.Fatal(err)
	}
	if o.Limit == 0 {
		o.Limit = 10
	}
	o.Gate, o.Now = gate, w.clock.read
	w.Manager = New(o)
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if err := gate.Close(); err != nil && w.records.bad == "" {
			t.Error(err)
		}
	})
	return w
}

// start starts a text that must start.
func (w *world) start(t *testing.T, text string) Shell {
	t.Helper()
	s, out, err := w.Start(context.Background(), engine.Request{Tool: "start_background_shell", Command: text})
	if err != nil || s.ID == "" {
		t.Fatalf("start %q: %+v, %+v, %v", text, s, out, err)
	}
	return s
}

// ended waits for the end of a shell by itself.
func (w *world) ended(t *testing.T, id string) Shell {
	t.Helper()
	var s Shell
	await.True(t, id+" has ended", func() bool {
		var err error
		if s, err = w.Status(id); err != nil {
			t.Fatal(err)
		}
		return s.Ended()
	})
	return s
}

// awaitOutput waits until stdout begins with a text.
func (w *world) awaitOutput(t *testing.T, id, text string) {
	t.Helper()
	await.True(t, "it wrote "+text, func() bool { return strings.HasPrefix(w.output(t, id).Stdout.Text, text) })
}

func (w *world) output(t *testing.T, id string) Output {
	t.Helper()
	o, err := w.Output(id, Since{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func (w *world) kill(t *testing.T, id string) (Shell, bool) {
	t.Helper()
	s, already, err := w.Kill(context.Background(), id, "test")
	if err != nil {
		t.Fatal(err)
	}
	return s, already
}
