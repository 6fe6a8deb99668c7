package policies_test

import (
	"fmt"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/policies"
)

// BenchmarkBatch judges requests of a file tool for many files. The time for each file hardly grows with their
// number; it was two to three times as long for 8,000 when a shared set of the rules was a partial object.
func BenchmarkBatch(b *testing.B) {
	evaluator, err := rego.New(b.Context(), rego.Options{Bundle: policies.FS(), Revision: "test", Timeout: await.Guard})
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{1000, 8000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			builder, ask := batch(n, false)
			for b.Loop() {
				if _, err := evaluator.Evaluate(b.Context(), builder.Build(ask)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/file")
		})
	}
}
