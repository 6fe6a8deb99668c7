package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/plugins"
)

// ownRules writes a directory with as many rules of the operator's own, and returns the line of the
// configuration that names it.
func ownRules(b *testing.B, n int) string {
	b.Helper()
	if n == 0 {
		return ""
	}
	dir := b.TempDir()
	for i := range n {
		text := fmt.Sprintf("# METADATA\n# title: Tool %[1]d\n# custom:\n#   severity: low\n#   remediation: Leave it.\npackage custom.bench.tool%[1]d\n\n"+
			"deny contains {\"command\": i} if {\n\tsome i, c in input.commands\n\tc.name == \"tool%[1]d\"\n\t\"force\" in c.flags\n}\n", i)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("tool%d.rego", i)), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return fmt.Sprintf("policies: [%s]\n", dir)
}

// BenchmarkEvaluators decides the same requests with the built-in rules compiled and interpreted, in one run:
// whole decisions (facts, judgement, joining), and judging alone. The goals: a small decision takes at most 0.1 ms
// at the median, and compiled rules are judged at least three times as fast. Rules of one's own are interpreted in both.
func BenchmarkEvaluators(b *testing.B) {
	for _, rules := range []int{0, 10, 100} {
		own := ownRules(b, rules)
		for name, text := range map[string]string{"small": "rm -rf ./build", "large": large()} {
			b.Run(fmt.Sprintf("%s/own-rules=%d", name, rules), func(b *testing.B) {
				request := engine.Request{Tool: "execute_command", Command: text}
				compiled := assembled(b, configured(b, own+"evaluator: wasm\n"), true)
				interpreted := assembled(b, configured(b, own+"evaluator: topdown\n"), true)
				out, err := compiled.Check(context.Background(), request)
				if err != nil || out.Fault != nil {
					b.Fatal(err, out.Fault)
				}
				decide := func(g *plugins.Sallyport, s *sample) {
					for range 20 { // one after the other, as they come: not each after the garbage of the other
						s.time(func() {
							if _, err := g.Check(context.Background(), request); err != nil {
								b.Fatal(err)
							}
						})
					}
				}
				judge := func(g *plugins.Sallyport, s *sample) {
					for range 20 {
						s.time(func() {
							if _, err := g.Policies.Evaluate(context.Background(), out.Input); err != nil {
								b.Fatal(err)
							}
						})
					}
				}
				var wasm, topdown, wasmAlone, topdownAlone sample
				for b.Loop() {
					decide(compiled, &wasm)
					decide(interpreted, &topdown)
					judge(compiled, &wasmAlone)
					judge(interpreted, &topdownAlone)
				}
				report(b, "decide-wasm", wasm)
				report(b, "decide-topdown", topdown)
				report(b, "judge-wasm", wasmAlone)
				report(b, "judge-topdown", topdownAlone)
				ratio(b, wasm, topdown, "topdown-whole")
				ratio(b, wasmAlone, topdownAlone, "topdown-judging")
			})
		}
	}
}

// BenchmarkOwnRules decides a small request with rules of the operator's own, of which none, or one, concerns
// it, against a decision without any in the same run. The goal is 5 for 1,000 rules.
func BenchmarkOwnRules(b *testing.B) {
	decide := func(b *testing.B, rules int) func(text string) {
		g := assembled(b, configured(b, ownRules(b, rules)+"evaluator: wasm\n"), true)
		return func(text string) {
			out, err := g.Check(context.Background(), engine.Request{Tool: "execute_command", Command: text})
			if err != nil || out.Fault != nil {
				b.Fatal(err, out.Fault)
			}
		}
	}
	for _, rules := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprintf("own-rules=%d", rules), func(b *testing.B) {
			without, with := decide(b, 0), decide(b, rules)
			var none, unconcerned, concerned, baseline sample
			for b.Loop() {
				for _, m := range []struct {
					to     *sample
					decide func(string)
					text   string
				}{
					{&none, without, "git status"}, {&unconcerned, with, "git status"},
					{&baseline, without, "tool0 --force x"}, {&concerned, with, "tool0 --force x"},
				} {
					for range 20 {
						m.to.time(func() { m.decide(m.text) })
					}
				}
			}
			report(b, "decide", unconcerned)
			report(b, "decide-concerned", concerned)
			ratio(b, unconcerned, none, "no-own-rules")
			ratio(b, concerned, baseline, "no-own-rules-concerned")
		})
	}
}

// BenchmarkReload loads policies as a server does when a file of them has changed, against loading them with
// the built-in rules interpreted.
func BenchmarkReload(b *testing.B) {
	for _, rules := range []int{0, 10, 100} {
		b.Run(fmt.Sprintf("own-rules=%d", rules), func(b *testing.B) {
			own := ownRules(b, rules)
			compiled, interpreted := configured(b, own+"evaluator: wasm\n"), configured(b, own+"evaluator: topdown\n")
			var wasm, topdown sample
			load := func(of string) func() {
				l := compiled
				if of == "topdown" {
					l = interpreted
				}
				return func() {
					if _, err := plugins.Policies(context.Background(), l); err != nil {
						b.Fatal(err)
					}
				}
			}
			load("wasm")() // compiles, once
			for b.Loop() {
				wasm.time(load("wasm"))
				topdown.time(load("topdown"))
			}
			report(b, "reload-wasm", wasm)
			report(b, "reload-topdown", topdown)
			ratio(b, wasm, topdown, "topdown")
		})
	}
}

// BenchmarkReplay judges a log again, of decisions that are all different, against reading its lines as JSON.
func BenchmarkReplay(b *testing.B) {
	l := configured(b, "")
	g := assembled(b, l, false)
	out, err := g.Do(context.Background(), engine.Request{Tool: "execute_command", Command: "echo 0 && ls -la x"})
	if err != nil || out.Fault != nil {
		b.Fatal(err, out.Fault)
	}
	line := decisionLine(b, string(l.Audit.Dir))
	const n = 10_000
	var text bytes.Buffer
	for i := range n {
		fresh := strings.ReplaceAll(line, out.Decision.ID, fmt.Sprintf("%036d", i))
		text.WriteString(strings.ReplaceAll(fresh, "echo 0", fmt.Sprint("echo ", i)) + "\n")
	}
	file := filepath.Join(b.TempDir(), "log.jsonl")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	var replay, read sample
	for b.Loop() {
		replay.time(func() {
			got, err := plugins.ReplayOptions{Keep: plugins.Replayed.Changed}.Judge(context.Background(), l, audit.ReadFile(file, audit.Filter{}))
			if err != nil || got.Judged != n || len(got.All) > 0 {
				b.Fatal(got, err)
			}
		})
		read.time(func() {
			eachLine(b, file, func(line []byte) {
				var value any
				if err := json.Unmarshal(line, &value); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
	report(b, "replay", replay)
	b.ReportMetric(n/replay.quantile(0.5).Seconds(), "records/s")
	ratio(b, replay, read, "reading-json")
}

// decisionLine is the first decision in a log.
func decisionLine(b *testing.B, dir string) string {
	b.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	found := ""
	for _, file := range files {
		eachLine(b, file, func(line []byte) {
			if found == "" && bytes.Contains(line, []byte(`"kind":"decision"`)) {
				found = string(line)
			}
		})
	}
	if found == "" {
		b.Fatal("no decision in the log")
	}
	return found
}

func eachLine(b *testing.B, file string, do func([]byte)) {
	b.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		do(lines.Bytes())
	}
	if err := lines.Err(); err != nil {
		b.Fatal(err)
	}
}
