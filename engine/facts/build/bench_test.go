package build

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/call"
)

// bench builds a text again and again, as the gate would, on real files.
func bench(b *testing.B, text string) {
	l := testLayout()
	l.Workspace = b.TempDir()
	l.Roots = append(l.Roots, facts.Root{Path: l.Workspace, Write: true, Zone: "workspace"})
	for _, dir := range []string{"src/a", "src/b", "dist"} {
		if err := os.MkdirAll(l.Workspace+"/"+dir, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(l.Workspace+"/"+dir+"/main.go", nil, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	builder := NewBuilder(l, facts.OSFS{}, fakeHistory{})
	ask := testAsk(text)
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
		call.TableOf(commands.Index()).Find("git")
	}
}

func BenchmarkNewBuilder(b *testing.B) {
	for b.Loop() {
		NewBuilder(testLayout(), facts.OSFS{}, nil)
	}
}
