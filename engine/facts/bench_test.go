package facts

import (
	"fmt"
	"strings"
	"testing"
)

// bench builds a text again and again, as the gate would.
func bench(b *testing.B, text string) {
	w := newWorld(b)
	builder := NewBuilder(w.layout, OSFS{}, w.history)
	ask := Ask{Request: Request{Command: text}, Env: map[string]string{"HOME": w.home}}
	in := builder.Build(ask)
	b.ReportAllocs()
	for b.Loop() {
		builder.Build(ask)
	}
	b.ReportMetric(float64(len(in.Paths)), "paths")
	b.ReportMetric(float64(len(in.Commands)), "commands")
}

func BenchmarkBuildOne(b *testing.B) { bench(b, "grep -n main src/main.go") }

func BenchmarkBuildDelete(b *testing.B) { bench(b, "rm -rf src dist") }

func BenchmarkBuildLarge(b *testing.B) {
	var text strings.Builder
	for i := range 20 {
		fmt.Fprintf(&text, "cp -r src/a%d src/b%d src/c%d ./d%d out%d && ", i, i, i, i, i)
	}
	bench(b, text.String()+"true")
}

// BenchmarkTable is what the first request pays for the command table.
func BenchmarkTable(b *testing.B) {
	for b.Loop() {
		newTable(fileRows, packageRows, gitRows, buildRows).find("git")
	}
}

func BenchmarkNewBuilder(b *testing.B) {
	w := newWorld(b)
	for b.Loop() {
		NewBuilder(w.layout, OSFS{}, w.history)
	}
}
