package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/engine/redact"
)

// decided is a record of a decision, as the gate makes it.
func decided(b *testing.B, command string) engine.Record {
	b.Helper()
	out, err := gate(b, true).Check(context.Background(), engine.Request{Tool: "execute_command", Command: command})
	if err != nil || out.Fault != nil {
		b.Fatal(err, out.Fault)
	}
	return engine.Record{Kind: engine.KindDecision, Time: time.Now().UTC(), Decision: out.Decision.ID,
		Body: engine.DecisionBody{Decision: out.Decision, Input: out.Input}}
}

func openedLog(b *testing.B) (log *audit.Log, dir string) {
	b.Helper()
	dir = filepath.Join(b.TempDir(), "audit")
	log, err := audit.Open(audit.Options{Dir: dir, Version: "bench", Reserve: -1})
	if err != nil {
		b.Fatal(err)
	}
	return log, dir
}

// writtenBy makes n records durable by so many writers at once.
func writtenBy(b *testing.B, log *audit.Log, record engine.Record, writers, n int) {
	b.Helper()
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := w; i < n; i += writers {
				if err := log.Record(context.Background(), record); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// BenchmarkWriters makes records of 64 writers durable, against one write and fdatasync for each record. The goal
// is six times its rate.
func BenchmarkWriters(b *testing.B) {
	const records = 512
	record := decided(b, "pytest -q tests")
	log, _ := openedLog(b)
	sync := syncer(b, 2048)
	var together, each sample
	for b.Loop() {
		together.time(func() { writtenBy(b, log, record, 64, records) })
		each.time(func() {
			for range records {
				sync()
			}
		})
	}
	if err := log.Close(); err != nil {
		b.Fatal(err)
	}
	rate := func(s sample) float64 { return records / s.quantile(0.5).Seconds() }
	b.ReportMetric(rate(together), "64-writers-records/s")
	b.ReportMetric(rate(each), "sync-each-records/s")
	b.ReportMetric(rate(together)/rate(each), "x-sync-each")
}

// BenchmarkVerify reads a log of 50,000 records, against sha256sum of the same file. The goal is half its rate.
func BenchmarkVerify(b *testing.B) {
	sum, err := exec.LookPath("sha256sum")
	if err != nil {
		b.Skip("no sha256sum on PATH")
	}
	log, dir := openedLog(b)
	writtenBy(b, log, decided(b, "pytest -q tests"), 2048, 50_000)
	if err := log.Close(); err != nil {
		b.Fatal(err)
	}
	var ours, theirs sample
	for b.Loop() {
		ours.time(func() {
			if r, err := audit.Verify(dir, audit.VerifyOptions{}); err != nil || !r.OK {
				b.Fatal(err, r)
			}
		})
		theirs.time(func() {
			if out, err := exec.Command(sum, filepath.Join(dir, "audit-000001.jsonl")).CombinedOutput(); err != nil {
				b.Fatal(err, string(out))
			}
		})
	}
	report(b, "verify", ours)
	report(b, "sha256sum", theirs)
	b.ReportMetric(float64(theirs.quantile(0.5))/float64(ours.quantile(0.5)), "of-sha256sum's-rate")
}

// BenchmarkRedact looks for secrets in a command of 200 bytes. The goal is 5 µs.
func BenchmarkRedact(b *testing.B) {
	text := "cd /srv/app && npm run build -- --mode production && cp -r dist/assets public/ && git add -A && " +
		"git commit -m 'build: update assets' && curl -s http://localhost:8080/health | jq .status && ls -la dist"
	red := redact.New([]byte("key"), redact.Extra{})
	var s sample
	for b.Loop() {
		s.time(func() {
			for range 100 {
				red.String(text[:200])
			}
		})
	}
	b.ReportMetric(float64(s.quantile(0.5).Nanoseconds())/1e5, "redact-µs")
}

// BenchmarkProcesses starts 64 times `sallyport exec -- true` on one log at once, against 64 times `bash -c true`
// with one write and fdatasync after each. None may be refused, and each leaves a decision and an outcome.
// SALLYPORT_BIN names the program; `make bench` sets it.
func BenchmarkProcesses(b *testing.B) {
	bin := os.Getenv("SALLYPORT_BIN")
	if bin == "" {
		b.Skip("SALLYPORT_BIN is not set: run `make bench`")
	}
	const processes = 64
	home := b.TempDir()
	config, dir := filepath.Join(home, "sallyport.yaml"), filepath.Join(home, "state", "audit")
	text := fmt.Sprintf("version: 1\nworkspace: %s\naudit: {dir: %s}\nlocal: {sandbox: none}\n", b.TempDir(), dir)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	at := func(do func() error) func() {
		return func() {
			var all sync.WaitGroup
			for range processes {
				all.Go(func() {
					if err := do(); err != nil {
						b.Error(err)
					}
				})
			}
			all.Wait()
		}
	}
	start := func(argv ...string) error {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	plain := b.TempDir()
	var ours, theirs sample
	runs := 0
	for b.Loop() {
		ours.time(at(func() error { return start(bin, "--config", config, "exec", "--", "true") }))
		theirs.time(at(func() error {
			if err := start("bash", "-c", "true"); err != nil {
				return err
			}
			f, err := os.CreateTemp(plain, "")
			if err != nil {
				return err
			}
			defer f.Close()
			if _, err := f.Write(make([]byte, 4096)); err != nil {
				return err
			}
			return fdatasync(f)
		}))
		runs++
	}
	r, err := audit.Verify(dir, audit.VerifyOptions{})
	if n := int64(runs * processes); err != nil || !r.OK || r.Decisions != n || r.Outcomes != n || len(r.Orphans) > 0 {
		b.Fatalf("%v, want %d decisions and outcomes:\n%s", err, n, r)
	}
	report(b, "exec", ours)
	report(b, "bash+fdatasync", theirs)
	ratio(b, ours, theirs, "bash+fdatasync")
}
