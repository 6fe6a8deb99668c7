package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

func TestAllowedRunsAfterItsRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	out := w.do(t, engine.Request{Tool: "execute_command", Command: "true"})
	if out.Decision.Effect != engine.Allow || !out.Ran || out.Exit.Code != 7 {
		t.Errorf("outcome %+v: want allow, ran, exit 7", out)
	}
	want := []string{"record start", "record decision", "start true", "record outcome"}
	if diff := cmp.Diff(want, w.log.lines()); diff != "" {
		t.Errorf("order of events (-want +got):\n%s", diff)
	}
}

func TestDenialStartsNothing(t *testing.T) {
	t.Parallel()
	for _, effect := range []engine.Effect{engine.Allow, engine.Deny} {
		w := newWorld(t)
		w.policy.answer = judgement(effect)
		out := w.do(t, engine.Request{Command: "touch x"})
		if got, want := out.Ran, effect == engine.Allow; got != want {
			t.Errorf("%s: ran %v, want %v", effect, got, want)
		}
		if got, want := slices.Contains(w.log.lines(), "start touch x"), effect == engine.Allow; got != want {
			t.Errorf("%s: started %v, want %v", effect, got, want)
		}
		if out.Decision.Effect != effect {
			t.Errorf("effect %s, want %s", out.Decision.Effect, effect)
		}
	}
}

func TestWhatIsUnclearIsRefused(t *testing.T) {
	t.Parallel()
	cases := map[string]func(w *world){
		"evaluator error":       func(w *world) { w.policy.err = errors.New("broken") },
		"evaluator panic":       func(w *world) { w.policy.panics = true },
		"evaluator too slow":    func(w *world) { w.policy.late, w.options.Limits.Judge = true, 20*time.Millisecond },
		"zero judgement":        func(w *world) { w.policy.answer = engine.Judgement{} },
		"unknown effect":        func(w *world) { w.policy.answer = engine.Judgement{Effect: "perhaps"} },
		"unknown reason effect": func(w *world) { w.policy.answer.Reasons = []engine.Reason{{Rule: "x/y", Effect: "maybe"}} },
		"allow despite a deny": func(w *world) {
			w.policy.answer = engine.Judgement{Effect: engine.Allow, Reasons: []engine.Reason{{Rule: "x/y", Effect: engine.Deny}}}
		},
		"environment does not open":  func(w *world) { w.runner.openErr = errors.New("no such place") },
		"command cannot be prepared": func(w *world) { w.runner.prepareErr = errors.New("no shell") },
		"decision not recorded":      func(w *world) { w.recorder.fail = engine.KindDecision },
		"start not recorded":         func(w *world) { w.recorder.fail = engine.KindStart },
		"no recorder":                func(w *world) { w.options.Recorder = nil },
	}
	for name, breakIt := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			breakIt(w)
			out := w.do(t, engine.Request{Command: "touch x"})
			if out.Ran || slices.Contains(w.log.lines(), "start touch x") {
				t.Error("the command ran")
			}
			if out.Decision.Effect != engine.Deny {
				t.Errorf("effect %q, want deny", out.Decision.Effect)
			}
			if out.Fault == nil || out.Decision.Fault != out.Fault.ID || !strings.HasPrefix(out.Fault.ID, "F-") {
				t.Errorf("fault %v, decision names %q: want the same fault", out.Fault, out.Decision.Fault)
			}
		})
	}
}

func TestOutcomeThatCannotBeRecordedClosesTheGate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.recorder.fail = engine.KindOutcome
	g := w.gate(t)
	out, err := g.Do(t.Context(), engine.Request{Command: "true"})
	if err != nil || out.Fault == nil || out.Exit.Stdout.Text != "" {
		t.Errorf("outcome %+v, %v: want a fault and the output withheld", out, err)
	}
	w.recorder.fail = ""
	if out, _ := g.Do(t.Context(), engine.Request{Command: "true"}); out.Ran || out.Decision.Effect != engine.Deny {
		t.Errorf("the next request got %+v: want a denial", out.Decision)
	}
}

// The outcome names the place of the decision, also when the runner has made another meanwhile.
func TestOutcomeNamesThePlaceOfItsCommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gate(t)
	do := func() engine.OutcomeBody {
		if out, err := g.Do(t.Context(), engine.Request{Command: "true"}); err != nil || !out.Ran {
			t.Fatalf("outcome %+v, %v", out, err)
		}
		return w.recorder.last
	}
	if got := do(); got.Place != nil || got.Network != "" || got.Isolation != "none" {
		t.Errorf("a place that nobody looked up: %+v", got)
	}
	w.runner.place = facts.Surroundings{Seen: true, Node: "first"}
	w.runner.started = func() { w.runner.place.Node = "second" }
	if got := do(); got.Place == nil || got.Place.Node != "first" || got.Network != "none" {
		t.Errorf("got %+v", got)
	}
}

func TestStrictestEvaluatorHolds(t *testing.T) {
	t.Parallel()
	effects := []engine.Effect{engine.Allow, engine.Ask, engine.Deny}
	for i, a := range effects {
		for j, b := range effects {
			w := newWorld(t)
			w.policy.answer = judgement(a)
			w.options.Evaluators = append(w.options.Evaluators, &fakePolicy{answer: judgement(b)})
			out, err := w.gate(t).Check(t.Context(), engine.Request{Command: "true"})
			if want := effects[max(i, j)]; err != nil || out.Decision.Effect != want {
				t.Errorf("%s and %s: %s, %v; want %s", a, b, out.Decision.Effect, err, want)
			}
			if out.Decision.Policy.Revision != "r1+r1" {
				t.Errorf("revision %q", out.Decision.Policy.Revision)
			}
		}
	}
}

func TestCheckRunsAndRecordsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	out, err := w.gate(t).Check(t.Context(), engine.Request{Command: "true"})
	if err != nil || out.Decision.Effect != engine.Allow || out.Ran || len(w.log.lines()) != 0 {
		t.Errorf("outcome %+v, %v, events %v", out.Decision, err, w.log.lines())
	}
}

func TestTimeouts(t *testing.T) {
	t.Parallel()
	for asked, want := range map[time.Duration]time.Duration{0: time.Minute, time.Second: time.Second, 48 * time.Hour: time.Hour} {
		w := newWorld(t)
		w.do(t, engine.Request{Command: "true", Timeout: asked})
		if got := w.runner.last.Timeout; got != want {
			t.Errorf("timeout %v became %v, want %v", asked, got, want)
		}
	}
	w := newWorld(t)
	if _, err := w.gate(t).Do(t.Context(), engine.Request{Command: "true", Timeout: -1}); !errors.Is(err, engine.ErrRequest) {
		t.Errorf("negative timeout: %v, want ErrRequest", err)
	}
	if got := w.log.lines(); len(got) != 0 {
		t.Errorf("events %v, want none", got)
	}
}

func TestCancelledRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	w.recorder.after = func(k engine.Kind) {
		if k == engine.KindDecision {
			cancel()
		}
	}
	out, err := w.gate(t).Do(ctx, engine.Request{Command: "true"})
	if err != nil || out.Exit.Killed == "" || slices.Contains(w.log.lines(), "start true") {
		t.Errorf("outcome %+v, %v, events %v: want it never started", out.Exit, err, w.log.lines())
	}
	w = newWorld(t)
	w.runner.block = true
	ctx, cancel = context.WithCancel(t.Context())
	w.runner.started = cancel
	out, err = w.gate(t).Do(ctx, engine.Request{Command: "sleep"})
	if err != nil || out.Exit.Killed != "cancelled" {
		t.Errorf("outcome %+v, %v: want killed by the cancellation", out.Exit, err)
	}
	if lines := w.log.lines(); lines[len(lines)-1] != "record outcome" {
		t.Errorf("events %v: want the outcome on record", lines)
	}
}

func TestCloseEndsAndRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gate(t)
	if _, err := g.Do(t.Context(), engine.Request{Command: "true"}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(g.Close(), g.Close()); err != nil {
		t.Fatal(err)
	}
	want := []string{"record start", "record decision", "start true", "record outcome", "close", "record stop"}
	if diff := cmp.Diff(want, w.log.lines()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if out, err := g.Do(t.Context(), engine.Request{Command: "true"}); err != nil || out.Decision.Effect != engine.Deny {
		t.Errorf("after close: %+v, %v", out.Decision, err)
	}
}

// TestCloseDuringTheFirstRequest: a gate that closes during its first record writes a stop record, too.
func TestCloseDuringTheFirstRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := &halting{fakePolicy: w.policy, asked: make(chan struct{})}
	w.options.Evaluators = []engine.Evaluator{p}
	g := w.gate(t)
	done := make(chan error, 1)
	go func() {
		_, err := g.Do(t.Context(), engine.Request{Command: "true"})
		done <- err
	}()
	<-p.asked
	if err := errors.Join(g.Close(), <-done); err != nil {
		t.Fatal(err)
	}
	want := []string{"close", "record start", "record decision", "record stop"}
	if diff := cmp.Diff(want, w.log.lines()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// halting judges when its request ends.
type halting struct {
	*fakePolicy
	asked chan struct{}
}

func (p *halting) Evaluate(ctx context.Context, _ *facts.Input) (engine.Judgement, error) {
	close(p.asked)
	<-ctx.Done()
	return engine.Judgement{}, ctx.Err()
}

// A gate for one command writes outcome and stop together, refuses a second command, and closes without another record.
func TestOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Once = true
	w.options.Boundary = &fakeBoundary{log: w.log}
	g := w.gate(t)
	for i, want := range []engine.Effect{engine.Allow, engine.Deny} {
		if out, err := g.Do(t.Context(), engine.Request{Command: "true"}); err != nil || out.Decision.Effect != want {
			t.Errorf("command %d: %+v, %v", i, out.Decision, err)
		}
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{"record start", "record decision", "enter", "start true", "leave", "record outcome",
		"record stop", "record decision", "close", "close boundary"}
	if diff := cmp.Diff(want, w.log.lines()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{2, 2, 1}, w.recorder.writes); diff != "" {
		t.Errorf("records of each write (-want +got):\n%s", diff)
	}
}

func TestLedgerSeesBeforeAndAfter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Ledger = &fakeLedger{log: w.log}
	w.do(t, engine.Request{Command: "true"})
	want := []string{"record start", "record decision", "ledger begin", "start true", "ledger end 7", "record outcome"}
	if diff := cmp.Diff(want, w.log.lines()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gate(t)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			out, err := g.Do(context.Background(), engine.Request{Command: fmt.Sprint("echo ", i)})
			if err != nil || !out.Ran {
				t.Errorf("request %d: %+v, %v", i, out.Decision, err)
			}
		})
	}
	wg.Wait()
	count := map[string]int{}
	for _, l := range w.log.lines() {
		word, _, _ := strings.Cut(strings.TrimPrefix(l, "record "), " ")
		count[word]++
	}
	if diff := cmp.Diff(map[string]int{"start": 51, "decision": 50, "outcome": 50}, count); diff != "" {
		t.Errorf("records and starts (-want +got):\n%s", diff)
	}
}

func TestNewRefusesAnIncompleteGate(t *testing.T) {
	t.Parallel()
	for name, strip := range map[string]func(*engine.Options){
		"evaluators": func(o *engine.Options) { o.Evaluators = nil },
		"runner":     func(o *engine.Options) { o.Runner = nil },
		"mode":       func(o *engine.Options) { o.Mode = "lenient" },
	} {
		w := newWorld(t)
		strip(&w.options)
		if _, err := engine.New(w.options); err == nil {
			t.Errorf("%s: made a gate", name)
		}
	}
}

var (
	_ engine.Runner      = (*fakeRunner)(nil)
	_ engine.Environment = (*fakeRunner)(nil)
	_ facts.History      = (*fakeLedger)(nil)
)

// A gate that can only decide looks at the environment, where its runner can describe it without making it;
// one that runs things opens it also to decide.
func TestLook(t *testing.T) {
	for name, tc := range map[string]struct {
		recorder bool
		want     string
	}{"only to decide": {false, "look"}, "to run": {true, "open"}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.options.Runner = lookingRunner{w.runner}
			if !tc.recorder {
				w.options.Recorder = nil
			}
			g, err := engine.New(w.options)
			if err != nil {
				t.Fatal(err)
			}
			if out, err := g.Check(t.Context(), engine.Request{Tool: "execute_command", Command: "ls"}); err != nil || out.Fault != nil {
				t.Fatal(err, out.Fault)
			}
			if diff := cmp.Diff([]string{tc.want}, w.log.lines()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
