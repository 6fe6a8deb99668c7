package walk

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/sallyport-dev/sallyport/engine/shell"
)

// benchTexts are those of SALLYPORT_TEXTS, a file of JSON lines with a "command" each, or those of the tables.
func benchTexts(b *testing.B) []string {
	b.Helper()
	var all []string
	name := os.Getenv("SALLYPORT_TEXTS")
	if name == "" {
		files, err := filepath.Glob("testdata/*.txt")
		if err != nil {
			b.Fatal(err)
		}
		for _, file := range files {
			for _, c := range readTable(b, file) {
				all = append(all, strings.Join(c.text, "\n"))
			}
		}
		return all
	}
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var t struct{ Command string }
		if err := json.Unmarshal(lines.Bytes(), &t); err != nil {
			b.Fatal(err)
		}
		all = append(all, t.Command)
	}
	if lines.Err() != nil {
		b.Fatal(lines.Err())
	}
	return all
}

// BenchmarkRead measures Parse beside a plain parse of the same texts. The goals are ten times that for a text
// of one command, at the median, and 0.5 ms for 99 texts in a hundred of those that agents write.
func BenchmarkRead(b *testing.B) {
	all, o := benchTexts(b), testOptions()
	var plain, one, every []time.Duration
	measure := func(f func()) time.Duration {
		start := time.Now()
		f()
		return time.Since(start)
	}
	for b.Loop() {
		for _, text := range all {
			var p *shell.Program
			base := measure(func() { _, _ = syntax.NewParser().Parse(strings.NewReader(text), "") })
			d := measure(func() { p, _ = Parse(text, o) })
			every = append(every, d)
			if len(p.Commands) == 1 {
				plain, one = append(plain, base), append(one, d)
			}
		}
	}
	quantile := func(all []time.Duration, q float64) float64 {
		slices.Sort(all)
		return float64(all[int(q*float64(len(all)-1))].Nanoseconds()) / 1e3
	}
	b.ReportMetric(quantile(one, 0.5)/quantile(plain, 0.5), "x-parse-of-one-command")
	b.ReportMetric(quantile(every, 0.5), "p50-µs")
	b.ReportMetric(quantile(every, 0.99), "p99-µs")
	b.ReportMetric(float64(len(all)), "texts")
}
