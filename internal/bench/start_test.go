package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// runs are the times and the processor times of one program's runs.
type runs struct{ wall, cpu sample }

func (s *runs) run(b *testing.B, argv []string) {
	b.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	var out []byte
	var err error
	s.wall.time(func() { out, err = cmd.CombinedOutput() })
	if err != nil {
		b.Fatal(err, string(out))
	}
	s.cpu = append(s.cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
}

// BenchmarkStart starts whole programs against a Go program that does nothing. The goals, in processor time,
// are 3 for `version` and 6 for `check -- ls`, and 35 MB for a program. Beside them stand the same commands
// by sallyport-full, and its check with 100 rules of the operator's own against that without any: the goal
// is 1.5.
func BenchmarkStart(b *testing.B) {
	bin := os.Getenv("SALLYPORT_BIN")
	if bin == "" {
		b.Skip("SALLYPORT_BIN is not set: run `make bench`")
	}
	dir := b.TempDir()
	source := filepath.Join(dir, "empty.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(dir, "empty"), source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatal(err, string(out))
	}
	configured(b, "") // a home, and a workspace where it stands
	b.Chdir(filepath.Join(os.Getenv("HOME"), "project"))
	full := bin + "-full"
	own := filepath.Join(dir, "own.yaml")
	if err := os.WriteFile(own, []byte("version: 1\n"+ownRules(b, 100)), 0o600); err != nil {
		b.Fatal(err)
	}
	commands := []struct {
		name string
		argv []string
		runs
	}{
		{name: "empty", argv: []string{filepath.Join(dir, "empty")}},
		{name: "version", argv: []string{bin, "version"}},
		{name: "check", argv: []string{bin, "check", "--", "ls"}},
		{name: "full-version", argv: []string{full, "version"}},
		{name: "full-check", argv: []string{full, "check", "--", "ls"}},
		{name: "own-rules", argv: []string{full, "--config", own, "check", "--", "ls"}},
	}
	for i := range commands { // caches: of files, of compiled rules, of what a sandbox shows
		commands[i].run(b, commands[i].argv)
		commands[i].runs = runs{}
	}
	for b.Loop() {
		for i := range commands {
			commands[i].run(b, commands[i].argv)
		}
	}
	for _, c := range commands {
		b.ReportMetric(float64(c.cpu.quantile(0.5))/float64(time.Millisecond), c.name+"-cpu-ms")
		if c.name != "empty" {
			b.ReportMetric(float64(c.cpu.quantile(0.5))/float64(commands[0].cpu.quantile(0.5)), c.name+"-x-empty-cpu")
			b.ReportMetric(float64(c.wall.quantile(0.5))/float64(commands[0].wall.quantile(0.5)), c.name+"-x-empty-wall")
		}
	}
	last := len(commands) - 1
	ratio(b, commands[last].cpu, commands[last-1].cpu, "own-rules-100-full-check-cpu")
	for _, program := range []string{bin, full} {
		info, err := os.Stat(program)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(info.Size())/1e6, filepath.Base(program)+"-MB")
	}
}
