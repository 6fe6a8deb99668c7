package bench

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/engine/wasm"
)

// secretive does in this process what the plugin plugins/examples/entropy does, on the same JSON.
func secretive(input []byte) (int, error) {
	var in facts.Input
	if err := json.Unmarshal(input, &in); err != nil {
		return 0, err
	}
	found := 0
	for _, c := range in.Commands {
		for _, word := range c.Argv[min(1, len(c.Argv)):] {
			var count [256]float64
			for i := range len(word) {
				count[word[i]]++
			}
			sum := 0.0
			for _, n := range count {
				if n > 0 {
					p := n / float64(len(word))
					sum -= p * math.Log2(p)
				}
			}
			if len(word) >= 20 && sum >= 4 {
				found++
			}
		}
	}
	return found, nil
}

// BenchmarkPlugin asks a rule plugin in Go, which decodes its whole input, against the same code in this
// process, on a small and on a large input. What puts its memory back runs beside the next call.
func BenchmarkPlugin(b *testing.B) {
	dir := b.TempDir()
	for _, part := range []string{"sdk", "examples/entropy"} {
		if err := os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join("../../plugins", part))); err != nil {
			b.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-o", "entropy.wasm", ".")
	build.Dir = filepath.Join(dir, "examples/entropy")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	module := filepath.Join(build.Dir, "entropy.wasm")
	if _, err := wasm.Seal(module); err != nil {
		b.Fatal(err)
	}
	p, err := wasm.Open(context.Background(), wasm.Options{Module: module})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { p.Close() })
	for name, text := range map[string]string{"small": "rm -rf ./build", "large": large()} {
		b.Run(name, func(b *testing.B) {
			out, err := gate(b, true).Check(context.Background(), engine.Request{Tool: "execute_command", Command: text})
			if err != nil {
				b.Fatal(err)
			}
			var plugin, here sample
			for b.Loop() {
				plugin.time(func() {
					if _, err := p.Evaluate(context.Background(), out.Input); err != nil {
						b.Fatal(err)
					}
				})
				here.time(func() {
					input, err := json.Marshal(out.Input)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := secretive(input); err != nil {
						b.Fatal(err)
					}
				})
			}
			report(b, "plugin", plugin)
			report(b, "in-process", here)
			ratio(b, plugin, here, "in-process")
		})
	}
}

// BenchmarkCompiledPolicy asks a policy that stock OPA compiled, with one rule. OPA_BIN names opa; `make
// bench` sets it.
func BenchmarkCompiledPolicy(b *testing.B) {
	opa := os.Getenv("OPA_BIN")
	if opa == "" {
		b.Skip("OPA_BIN is not set: run `make bench`")
	}
	dir := b.TempDir()
	rule := strings.Join([]string{
		"package custom.no_curl", "", "deny contains {\"command\": i} if {", "\tsome i, c in input.commands",
		"\tregex.match(\"^(curl|wget)$\", c.name)", "}", "",
	}, "\n")
	manifest := `{"name": "bench", "version": "1", "interface": 1, "sha256": "", "rules": ["no_curl"],
		"policy": {"no_curl": {"title": "Download", "severity": "low"}}}`
	for name, text := range map[string]string{"rule.rego": rule, "policy.manifest.json": manifest} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	bundle := filepath.Join(dir, "policy.tar.gz")
	if out, err := exec.Command(opa, "build", "-t", "wasm", "-e", "custom/no_curl/deny", "-o", bundle, filepath.Join(dir, "rule.rego")).CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	if _, err := wasm.Seal(bundle); err != nil {
		b.Fatal(err)
	}
	p, err := wasm.Open(context.Background(), wasm.Options{Module: bundle, Functions: rego.Function})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { p.Close() })
	out, err := gate(b, true).Check(context.Background(), engine.Request{Tool: "execute_command", Command: "rm -rf ./build"})
	if err != nil {
		b.Fatal(err)
	}
	var s sample
	for b.Loop() {
		s.time(func() {
			if _, err := p.Evaluate(context.Background(), out.Input); err != nil {
				b.Fatal(err)
			}
		})
	}
	report(b, "compiled-policy", s)
}
