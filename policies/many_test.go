package policies_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/build"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/policies"
)

// batch is a request to delete n files, in a world of its own.
func batch(n int, read bool) (*build.Builder, facts.Ask) {
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
	return build.NewBuilder(settings{}.layout(world), world, seen), ask
}

// The facts of a batch and its judgement cost in proportion to its files: eight times as many files take about
// eight times the allocations. BenchmarkBatch shows work that allocates nothing. The test counts the allocations
// of the whole process, so it is not parallel.
func TestBatchesAreJudgedByLinearWork(t *testing.T) {
	evaluator, err := rego.New(t.Context(), rego.Options{Bundle: policies.FS(), Revision: "test", Timeout: await.Guard})
	if err != nil {
		t.Fatal(err)
	}
	const few, factor = 250, 8
	for read, want := range map[bool]engine.Effect{false: engine.Deny, true: engine.Allow} {
		judge := func(n int) uint64 {
			b, ask := batch(n, read)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, err := evaluator.Evaluate(t.Context(), b.Build(ask))
			runtime.ReadMemStats(&after)
			if err != nil || got.Effect != want {
				t.Fatalf("read %v, %d files: %s, %v", read, n, got.Effect, err)
			}
			return after.Mallocs - before.Mallocs
		}
		judge(few) // the first evaluation allocates more
		small, large := judge(few), judge(few*factor)
		t.Logf("read %v: %d allocations for %d files, %d for %d", read, small, few, large, few*factor)
		if large > 12*small {
			t.Errorf("read %v: %d allocations for %d files, %d for %d", read, small, few, large, few*factor)
		}
	}
}
