package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/testprogram"
	"github.com/sallyport-dev/sallyport/plugins"
	"github.com/sallyport-dev/sallyport/runners/command"
	"github.com/sallyport-dev/sallyport/runners/local"
)

// supervisorFile builds the program that commands elsewhere are run by.
func supervisorFile(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	if err := testprogram.Build(dir, "cmd/sallyport-supervisor"); err != nil {
		b.Fatal(err)
	}
	return filepath.Join(dir, "sallyport-supervisor")
}

func environment(b *testing.B, r engine.Runner, err error) engine.Environment {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
	env, err := r.Open(context.Background(), engine.EnvironmentSpec{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := env.Close(); err != nil {
			b.Error(err)
		}
	})
	return env
}

// sides are the same machine, in process and through a supervisor in a process of its own.
func sides(b *testing.B) (near, far engine.Environment) {
	l, err := local.New(local.Options{})
	near = environment(b, l, err)
	c, err := command.New(command.Options{Name: "box", Command: []string{supervisorFile(b)}, Host: os.Environ()})
	return near, environment(b, c, err)
}

func runText(b *testing.B, env engine.Environment, text string, to io.Writer) engine.Exit {
	b.Helper()
	c, err := env.Prepare(text, "/")
	if err != nil {
		b.Fatal(err)
	}
	c.ID, c.Timeout, c.Output, c.Stdout = "bench", time.Minute, 1<<20, to
	p, err := env.Start(context.Background(), c)
	if err != nil {
		b.Fatal(err)
	}
	x := p.Wait()
	if x.Code != 0 || x.Error != nil {
		b.Fatalf("%s: %+v", text, x)
	}
	return x
}

// BenchmarkElsewhere runs `true` through a supervisor in another process against the same in this one.
// The goal is to stay within 2 ms of it.
func BenchmarkElsewhere(b *testing.B) {
	near, far := sides(b)
	var here, there sample
	for b.Loop() {
		here.time(func() { runText(b, near, "true", nil) })
		there.time(func() { runText(b, far, "true", nil) })
	}
	report(b, "local", here)
	report(b, "elsewhere", there)
	b.ReportMetric(float64((there.quantile(0.5) - here.quantile(0.5)).Microseconds()), "difference-µs")
	ratio(b, there, here, "local")
}

// BenchmarkElsewhereStream passes output on as it comes.
func BenchmarkElsewhereStream(b *testing.B) {
	const size = 64 << 20
	near, far := sides(b)
	text := fmt.Sprintf("head -c %d /dev/zero", size)
	var here, there sample
	for b.Loop() {
		here.time(func() { runText(b, near, text, io.Discard) })
		there.time(func() { runText(b, far, text, io.Discard) })
	}
	rate := func(s sample) float64 { return size / 1e6 / s.quantile(0.5).Seconds() }
	b.ReportMetric(rate(here), "local-MB/s")
	b.ReportMetric(rate(there), "elsewhere-MB/s")
	ratio(b, there, here, "local")
}

// BenchmarkElsewhereDecide judges a request whose facts come from a supervisor, against the same with
// facts of this machine. The goal is a few milliseconds.
func BenchmarkElsewhereDecide(b *testing.B) {
	for name, text := range map[string]string{"small": "rm -rf ./build", "large": large()} {
		b.Run(name, func(b *testing.B) {
			near := gate(b, true)
			far := gateElsewhere(b)
			var here, there sample
			judge := func(g *plugins.Sallyport) {
				out, err := g.Check(context.Background(), engine.Request{Tool: "execute_command", Command: text})
				if err != nil || out.Fault != nil {
					b.Fatal(err, out.Fault)
				}
			}
			judge(far)
			for b.Loop() {
				here.time(func() { judge(near) })
				there.time(func() { judge(far) })
			}
			report(b, "local", here)
			report(b, "elsewhere", there)
			ratio(b, there, here, "local")
		})
	}
}

// gateElsewhere is like gate, with a supervisor in another process.
func gateElsewhere(b *testing.B) *plugins.Sallyport {
	b.Helper()
	return assembled(b, configured(b, fmt.Sprintf("runner: box\nrunners: {box: {command: [%s]}}\n", supervisorFile(b))), true)
}
