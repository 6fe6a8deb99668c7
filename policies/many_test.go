//go:build unix

package policies_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/policies"
)

// batch is a request to delete n files, in a world of its own.
func batch(n int, read bool) (*facts.Builder, facts.Ask) {
	files, seen := map[string]string{}, history{}
	ask := facts.Ask{Request: facts.Request{Tool: "delete_files_batch"}, Touches: []facts.Touch{{Path: ".", Access: "read"}}}
	for i := range n {
		name := fmt.Sprintf("%s/src/d%d/deep/f%d.go", workspace, i%20, i)
		if read {
			seen[name] = "read"
		}
		files[name] = "x"
		ask.Touches = append(ask.Touches, facts.Touch{Path: name, Access: "delete"})
	}
	world := newMemory(files)
	return facts.NewBuilder(settings{}.layout(world), world, seen), ask
}

// A batch is judged in a time that grows as it does, and one of a thousand files far within the five
// seconds that the gate gives. It is the processor's time that is held against that, not the clock's, and
// nothing else runs meanwhile, since this test is not parallel.
func TestBatchesAreJudgedInLinearTime(t *testing.T) {
	// On a busy machine the clock runs faster than this test.
	evaluator, err := rego.New(t.Context(), rego.Options{Bundle: policies.FS(), Revision: "test", Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	const few, factor = 1000, 8
	for read, want := range map[bool]engine.Effect{false: engine.Deny, true: engine.Allow} {
		judge := func(n int) (least time.Duration) {
			b, ask := batch(n, read)
			for range 2 {
				before := processorTime(t)
				in := b.Build(ask)
				got, err := evaluator.Evaluate(t.Context(), in)
				took := processorTime(t) - before
				if err != nil || got.Effect != want {
					t.Fatalf("read %v, %d files: %s, %v", read, n, got.Effect, err)
				}
				if least == 0 || took < least {
					least = took
				}
			}
			return least
		}
		small, large := judge(few), judge(few*factor)
		t.Logf("read %v: %d files %v, %d files %v", read, few, small, few*factor, large)
		limit := time.Second
		if underRace {
			limit = rego.DefaultTimeout
		}
		if small > limit {
			t.Errorf("read %v: %d files take %v", read, few, small)
		}
		// Measured: 8 to 12 times as long for 8 times as many, and 20 to 28 times when each path was compared
		// with all before it.
		if large > 16*small {
			t.Errorf("read %v: %d times as many files take %v in place of %v", read, factor, large, small)
		}
	}
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
