package rego

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown/cache"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
)

// endless is an evaluator with the endless rule custom/b, between two others. Each evaluation of it is held where the
// rule matches a pattern, as by a builtin that heeds no deadline. Its bounds depend on that and on no clock.
type endless struct {
	*Evaluator
	cache.InterQueryValueCache
	reached func()        // an evaluation is at the endless rule
	release chan struct{} // closed: nothing is held any more
	free    func()        // closes it
	mu      sync.Mutex
	late    chan struct{} // closed at the deadline of the evaluation
	grows   bool
	bytes   uint64
}

func newEndless(t *testing.T) *endless {
	t.Helper()
	dir := directory(t, map[string]string{
		"a.rego": metadataText + "package custom.a\n\nask contains {} if input.request.background\n",
		"b.rego": metadataText + `package custom.b

ask contains {} if input.request.background

warn contains {} if {
	input.commands[0].name == "ls"
	some x in numbers.range(1, 1000)
	some _ in numbers.range(1, 1000)
	some _ in numbers.range(1, 1000)
	regex.match("^endless$", sprintf("%d", [x]))
}
`,
		"c.rego": metadataText + "package custom.c\n\ndeny contains {} if input.request.background\n",
	})
	e := &endless{release: make(chan struct{}), late: make(chan struct{})}
	e.Evaluator = newEvaluator(t, Options{Custom: []string{dir}, bounds: bounds{limit: e.limit, heap: e.heap}})
	e.InterQueryValueCache, e.topdown.patterns = e.topdown.patterns, e
	e.free = sync.OnceFunc(func() { close(e.release) })
	t.Cleanup(e.free)
	return e
}

// Get is how regex.match looks for a compiled pattern.
func (e *endless) Get(pattern ast.Value) (any, bool) {
	select {
	case <-e.release:
	default:
		if pattern.Compare(ast.String("^endless$")) == 0 {
			e.reached()
			<-e.release
		}
	}
	return e.InterQueryValueCache.Get(pattern)
}

// deadline is a context that is late when the channel is closed.
type deadline struct {
	context.Context
	late <-chan struct{}
}

func (d deadline) Done() <-chan struct{} { return d.late }

func (d deadline) Err() error {
	select {
	case <-d.late:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func (e *endless) limit(ctx context.Context, _ time.Duration) (context.Context, context.CancelFunc) {
	e.mu.Lock()
	defer e.mu.Unlock()
	limited, cancel := context.WithCancel(deadline{ctx, e.late})
	stop := context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.Canceled) {
			cancel()
		}
	})
	return limited, func() {
		stop()
		e.mu.Lock()
		defer e.mu.Unlock()
		e.grows = false
		cancel()
	}
}

// beLate ends the time of the current evaluation, not of a later one.
func (e *endless) beLate() {
	e.mu.Lock()
	defer e.mu.Unlock()
	close(e.late)
	e.late = make(chan struct{})
}

// grow lets each look at the heap find more, as long as the evaluation lasts.
func (e *endless) grow() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.grows = true
}

func (e *endless) heap() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.grows {
		e.bytes += maxGrowth
	}
	e.bytes++
	return e.bytes
}

// The caller has its answer at the deadline even while a builtin does not heed it. After that builtin the evaluation
// ends, and the next request is judged.
func TestDeadlineHoldsForASingleBuiltin(t *testing.T) {
	t.Parallel()
	e := newEndless(t)
	e.reached = e.beLate
	in := harmless()
	if term, err := e.topdown.eval(t.Context(), &e.topdown.decision, e.topdown.encode.value(in)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, %v", term, err)
	}
	in.Commands[0].Name = "cat"
	if j, err := e.Evaluate(t.Context(), in); err != nil || j.Effect != engine.Allow {
		t.Errorf("the next request, while the first is held: %+v, %v", j, err)
	}
	await.True(t, "the second evaluation has ended", func() bool { return len(e.topdown.workers.idle) == 1 })
	e.topdown.workers.stop()
	e.free()
	await.True(t, "the first evaluation has ended", func() bool { return len(e.topdown.workers.idle) == 1 })
}

// OPA does not say where it was when it was stopped. The fault names the rule all the same.
func TestEndlessRuleIsNamed(t *testing.T) {
	t.Parallel()
	const place = "b.rego:10: rule custom/b: evaluate policies: "
	e := newEndless(t)
	e.reached = e.beLate
	if _, err := e.Evaluate(t.Context(), harmless()); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), place) {
		t.Errorf("late: %v", err)
	}
	e.reached = e.grow
	if _, err := e.Evaluate(t.Context(), harmless()); !errors.Is(err, errMemory) || !strings.Contains(err.Error(), place) || !strings.Contains(err.Error(), "a rule builds something very large") {
		t.Errorf("large: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	e.reached = cancel
	if _, err := e.Evaluate(ctx, harmless()); !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "custom/b") {
		t.Errorf("a request that was given up: %v", err)
	}
}

// Not parallel: memory that other tests allocate or free would count.
func TestHeapCountsWhatIsInUse(t *testing.T) {
	runtime.GC()
	before := heap()
	large := make([]byte, maxGrowth)
	if now := heap(); now < before+maxGrowth/2 {
		t.Errorf("%d bytes, and %d with %d more", before, now, maxGrowth)
	}
	runtime.KeepAlive(large)
}
