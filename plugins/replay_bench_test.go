package plugins_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/plugins"
)

// BenchmarkReplay measures records a second: of requests that come again and again, as those of agents do,
// and of requests that are all different.
func BenchmarkReplay(b *testing.B) {
	l := load(b, "")
	recordsOf(b, l, "echo a && ls -la x")
	line := string(records(b, l)[0])
	id := strings.SplitN(line, `"decision_id":"`, 2)[1][:36]
	for name, distinct := range map[string]int{"alike": 50, "distinct": 10_000} {
		b.Run(name, func(b *testing.B) {
			const n = 10_000
			var text bytes.Buffer
			for i := range n {
				fresh := strings.ReplaceAll(line, id, fmt.Sprintf("%036d", i))
				text.WriteString(strings.ReplaceAll(fresh, "echo a", fmt.Sprintf("echo a%d", i%distinct)))
				text.WriteByte('\n')
			}
			file := filepath.Join(b.TempDir(), "log.jsonl")
			if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				got, err := plugins.ReplayOptions{Keep: plugins.Replayed.Changed}.Judge(b.Context(), l, audit.ReadFile(file, audit.Filter{}))
				if err != nil || got.Judged != n || len(got.All) > 0 {
					b.Fatal(got, err)
				}
			}
			b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}
