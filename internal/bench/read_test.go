package bench

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"mvdan.cc/sh/v3/syntax"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/shell"
)

// texts are those of SALLYPORT_TEXTS, a file of JSON lines with a "command" each, or those of the allowed cases.
func texts(b *testing.B) []string {
	b.Helper()
	var all []string
	add := func(line []byte) {
		var t struct{ Command string }
		if err := json.Unmarshal(line, &t); err != nil {
			b.Fatal(err)
		}
		all = append(all, t.Command)
	}
	if name := os.Getenv("SALLYPORT_TEXTS"); name != "" {
		f, err := os.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			add(lines.Bytes())
		}
		if lines.Err() != nil {
			b.Fatal(lines.Err())
		}
		return all
	}
	for _, name := range []string{"routine", "lookalikes"} {
		content, err := os.ReadFile(filepath.Join("../../testdata/cases", name+".cases.yaml"))
		if err != nil {
			b.Fatal(err)
		}
		var file struct {
			Cases []struct{ Command string }
		}
		if err := yaml.Unmarshal(content, &file); err != nil {
			b.Fatal(err)
		}
		for _, c := range file.Cases {
			if c.Command != "" {
				all = append(all, c.Command)
			}
		}
	}
	return all
}

// BenchmarkRead measures the reader of shell text, alone and with the facts, beside a plain parse of the same
// texts: the goals are 10 times that for a text of one command, and 0.5 ms for one text in a hundred.
func BenchmarkRead(b *testing.B) {
	all, dir := texts(b), b.TempDir()
	o := shell.Options{Dir: dir, Env: map[string]string{"HOME": dir, "PATH": "/usr/bin:/bin"}, Whole: true}
	builder := facts.NewBuilder(facts.Layout{
		Workspace: dir, Home: dir, Roots: []facts.Root{{Path: dir, Write: true, Zone: "workspace"}},
	}, facts.OSFS{}, nil)
	var onePlain, oneRead, oneBuilt, read, built sample
	for b.Loop() {
		for _, text := range all {
			var plain, reading, building sample
			var p *shell.Program
			plain.time(func() { _, _ = syntax.NewParser().Parse(strings.NewReader(text), "") })
			reading.time(func() { p, _ = shell.Parse(text, o) })
			building.time(func() {
				builder.Build(facts.Ask{Request: facts.Request{Command: text}, Env: o.Env})
			})
			read, built = append(read, reading...), append(built, building...)
			if p != nil && len(p.Commands) == 1 {
				onePlain, oneRead = append(onePlain, plain...), append(oneRead, reading...)
				oneBuilt = append(oneBuilt, building...)
			}
		}
	}
	ratio(b, oneRead, onePlain, "parse")
	ratio(b, oneBuilt, onePlain, "parse-with-facts")
	b.ReportMetric(float64(read.quantile(0.99).Nanoseconds())/1e3, "read-p99-µs")
	b.ReportMetric(float64(built.quantile(0.99).Nanoseconds())/1e3, "facts-p99-µs")
	b.ReportMetric(float64(len(all)), "texts")
}
