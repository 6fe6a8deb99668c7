package rego

import (
	"testing"

	"github.com/sallyport-dev/sallyport/policies"
)

// BenchmarkNew measures what a process pays before its first decision.
func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if _, err := New(b.Context(), Options{Bundle: policies.FS()}); err != nil {
			b.Fatal(err)
		}
	}
}
