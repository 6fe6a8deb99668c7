package bench

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/plugins"
	"github.com/sallyport-dev/sallyport/policies"
)

// sample collects the times of one side of a comparison.
type sample []time.Duration

func (s *sample) time(f func()) {
	start := time.Now()
	f()
	*s = append(*s, time.Since(start))
}

func (s sample) quantile(q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(s))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

func report(b *testing.B, name string, s sample) {
	b.ReportMetric(float64(s.quantile(0.5).Nanoseconds())/1e3, name+"-p50-µs")
}

func ratio(b *testing.B, s, baseline sample, name string) {
	b.ReportMetric(float64(s.quantile(0.5))/float64(baseline.quantile(0.5)), "x-"+name)
}

// gate assembles a gate as the program does, in a home of its own.
func gate(b *testing.B, checkOnly bool) *plugins.Sallyport {
	b.Helper()
	return assembled(b, configured(b, ""), checkOnly)
}

// configured is a configuration in a home of its own, with more lines of YAML.
func configured(b *testing.B, more string) *config.Loaded {
	b.Helper()
	home := b.TempDir()
	workspace := filepath.Join(home, "project")
	if err := os.MkdirAll(workspace, 0o755); err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(home, "sallyport.yaml")
	text := fmt.Sprintf("version: 1\nworkspace: %s\naudit: {dir: %s}\nlocal: {sandbox: none}\n%s", workspace, filepath.Join(home, "audit"), more)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	b.Setenv("HOME", home)
	b.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	host, err := config.ThisHost()
	if err != nil {
		b.Fatal(err)
	}
	loaded, err := config.Load(file, host)
	if err != nil {
		b.Fatal(err)
	}
	return loaded
}

func assembled(b *testing.B, loaded *config.Loaded, checkOnly bool) *plugins.Sallyport {
	b.Helper()
	g, err := plugins.Assemble(context.Background(), loaded, plugins.Options{Version: "bench", CheckOnly: checkOnly})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := g.Close(); err != nil {
			b.Error(err)
		}
	})
	return g
}

// large is a text of 20 commands that touch 100 paths.
func large() string {
	var lines []string
	for i := range 20 {
		lines = append(lines, fmt.Sprintf("cp a%[1]d.txt b%[1]d.txt c%[1]d.txt d%[1]d.txt out/%[1]d", i))
	}
	return strings.Join(lines, "\n")
}

// BenchmarkDecide measures reading, facts and judgement in one process, as it is configured without more: the
// goals are 0.1 ms for a small request and 10 ms for a large one, at the median.
func BenchmarkDecide(b *testing.B) {
	for name, text := range map[string]string{"small": "rm -rf ./build", "large": large()} {
		b.Run(name, func(b *testing.B) {
			g := gate(b, true)
			var s sample
			for b.Loop() {
				s.time(func() {
					if _, err := g.Check(context.Background(), engine.Request{Tool: "execute_command", Command: text}); err != nil {
						b.Fatal(err)
					}
				})
			}
			out, err := g.Check(context.Background(), engine.Request{Tool: "execute_command", Command: text})
			if err != nil || out.Fault != nil {
				b.Fatal(err, out.Fault)
			}
			report(b, "decide", s)
			b.ReportMetric(float64(s.quantile(0.99).Nanoseconds())/1e3, "decide-p99-µs")
			b.ReportMetric(float64(len(out.Input.Commands)), "commands")
			b.ReportMetric(float64(len(out.Input.Paths)), "paths")
		})
	}
}

// BenchmarkExec runs `true` through the gate, with its records, against bash alone. The goal is at most
// twice bash after one fdatasync is taken off.
func BenchmarkExec(b *testing.B) {
	g := gate(b, false)
	sync := syncer(b, 4096)
	var gated, bash, fsync sample
	for b.Loop() {
		gated.time(func() {
			out, err := g.Do(context.Background(), engine.Request{Tool: "execute_command", Command: "true"})
			if err != nil || out.Fault != nil || !out.Ran {
				b.Fatal(err, out.Fault)
			}
		})
		bash.time(func() {
			if err := exec.Command("bash", "-c", "true").Run(); err != nil {
				b.Fatal(err)
			}
		})
		fsync.time(sync)
	}
	report(b, "exec", gated)
	report(b, "bash", bash)
	report(b, "fdatasync", fsync)
	less := gated.quantile(0.5) - fsync.quantile(0.5)
	b.ReportMetric(float64(less)/float64(bash.quantile(0.5)), "x-bash-after-one-fdatasync")
}

// BenchmarkAppend makes one decision record durable, against a write and fdatasync of as many bytes.
func BenchmarkAppend(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "audit")
	log, err := audit.Open(audit.Options{Dir: dir, Version: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	g := gate(b, true)
	out, err := g.Check(context.Background(), engine.Request{Tool: "execute_command", Command: "pytest -q tests"})
	if err != nil {
		b.Fatal(err)
	}
	record := engine.Record{Kind: engine.KindDecision, Time: time.Now().UTC(), Decision: out.Decision.ID,
		Body: engine.DecisionBody{Decision: out.Decision, Input: out.Input}}
	body, err := json.Marshal(record.Body)
	if err != nil {
		b.Fatal(err)
	}
	sync := syncer(b, len(body))
	var append, plain sample
	for b.Loop() {
		append.time(func() {
			if err := log.Record(context.Background(), record); err != nil {
				b.Fatal(err)
			}
		})
		plain.time(sync)
	}
	if err := log.Close(); err != nil {
		b.Fatal(err)
	}
	report(b, "append", append)
	report(b, "write+fdatasync", plain)
	ratio(b, append, plain, "write+fdatasync")
}

// syncer returns a function that appends n bytes to a file and syncs it.
func syncer(b *testing.B, n int) func() {
	b.Helper()
	f, err := os.Create(filepath.Join(b.TempDir(), "plain"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	bytes := make([]byte, n)
	if _, err := rand.Read(bytes); err != nil {
		b.Fatal(err)
	}
	return func() {
		if _, err := f.Write(bytes); err != nil {
			b.Fatal(err)
		}
		if err := fdatasync(f); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCheckProcess starts the whole program, sallyport-full, for one decision, against `opa eval` of the
// same policy with the same input, and against itself where OPA's interpreter judges, where a sandbox is looked
// at, and where it does nothing but start. SALLYPORT_BIN and OPA_BIN name sallyport and OPA; `make bench` sets
// them. BenchmarkStart measures checks that the resident process answers.
func BenchmarkCheckProcess(b *testing.B) {
	bin, opa := os.Getenv("SALLYPORT_BIN"), os.Getenv("OPA_BIN")
	if bin == "" || opa == "" {
		b.Skip("SALLYPORT_BIN and OPA_BIN are not set: run `make bench`")
	}
	bin += "-full"
	g := gate(b, true)
	out, err := g.Check(context.Background(), engine.Request{Tool: "execute_command", Command: "rm -rf ./build"})
	if err != nil {
		b.Fatal(err)
	}
	input, err := json.Marshal(out.Input)
	if err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(b.TempDir(), "input.json")
	if err := os.WriteFile(file, input, 0o600); err != nil {
		b.Fatal(err)
	}
	bundle := b.TempDir()
	if err := os.CopyFS(bundle, policies.FS()); err != nil {
		b.Fatal(err)
	}
	judge, err := rego.New(context.Background(), rego.Options{Bundle: policies.FS()})
	if err != nil {
		b.Fatal(err)
	}
	registry, err := judge.Registry()
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bundle, "registry.rego"), []byte(registry), 0o600); err != nil {
		b.Fatal(err)
	}
	decision, err := exec.Command(opa, "eval", "-f", "raw", "-d", bundle, "-i", file, "data.sallyport.main.decision.effect").Output()
	if got := strings.TrimSpace(string(decision)); err != nil || got != string(out.Decision.Effect) {
		b.Fatalf("opa decides %q (%v), sallyport %q", got, err, out.Decision.Effect)
	}
	start := func(argv ...string) func() {
		return func() {
			if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
				b.Fatal(err, string(out))
			}
		}
	}
	written := func(name, text string) string {
		file := filepath.Join(b.TempDir(), name)
		if err := os.WriteFile(file, []byte("version: 1\n"+text), 0o600); err != nil {
			b.Fatal(err)
		}
		return file
	}
	check := start(bin, "--config", written("bare.yaml", "local: {sandbox: none}\n"), "check", "-c", "rm -rf ./build")
	confined := start(bin, "check", "-c", "rm -rf ./build")
	eval := start(opa, "eval", "-d", bundle, "-i", file, "data.sallyport.main.decision")
	slow := start(bin, "--config", written("topdown.yaml", "local: {sandbox: none}\nevaluator: topdown\n"), "check", "-c", "rm -rf ./build")
	idle := start(bin, "version")
	var ours, theirs, topdown, sandbox, version sample
	check()    // compiles, once
	confined() // makes a sandbox, once
	for b.Loop() {
		ours.time(check)
		theirs.time(eval)
		topdown.time(slow)
		sandbox.time(confined)
		version.time(idle)
	}
	report(b, "check", ours)
	report(b, "opa-eval", theirs)
	b.ReportMetric(float64(ours.quantile(0).Nanoseconds())/1e3, "check-min-µs") // what other programs take, they add
	report(b, "check-by-topdown", topdown)
	report(b, "check-with-sandbox", sandbox)
	report(b, "version", version)
	ratio(b, ours, theirs, "opa-eval")
	ratio(b, ours, topdown, "topdown")
	ratio(b, ours, version, "version")
	ratio(b, sandbox, ours, "without-sandbox")
}
