package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/internal/await"
)

// runs are the times and the processor times of one program's runs.
type runs struct{ wall, cpu sample }

func (s *runs) run(b *testing.B, argv []string, input string) {
	b.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin = strings.NewReader(input)
	var out []byte
	var err error
	s.wall.time(func() { out, err = cmd.CombinedOutput() })
	if err != nil {
		b.Fatal(err, string(out))
	}
	s.cpu = append(s.cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
}

// BenchmarkStart starts whole programs against a Go program that does nothing. The goals, in processor time,
// are 3 for `version` and 6 for `check -- ls`, and 35 MB for a program; a hook takes at most 6 ms more than that
// program. The resident process answers sallyport's checks and hooks; its own processor time is not counted, and
// the time by the clock includes it. Beside them stand the same commands by sallyport-full, and its check with
// 100 rules of the operator's own against that without any: the goal is 1.5. If CLIENTS_DIR has it, the hook of
// cc-safety-net judges the same event: the goal is a quarter of its time.
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
	project := filepath.Join(os.Getenv("HOME"), "project")
	b.Chdir(project)
	full := bin + "-full"
	own := filepath.Join(dir, "own.yaml")
	if err := os.WriteFile(own, []byte("version: 1\n"+ownRules(b, 100)), 0o600); err != nil {
		b.Fatal(err)
	}
	event := `{"session_id":"s","hook_event_name":"PreToolUse","tool_use_id":"t","tool_name":"Bash",` +
		`"tool_input":{"command":"ls"},"cwd":` + strconv.Quote(project) + `}`
	commands := []struct {
		name string
		argv []string
		runs
		input string
	}{
		{name: "empty", argv: []string{filepath.Join(dir, "empty")}},
		{name: "version", argv: []string{bin, "version"}},
		{name: "check", argv: []string{bin, "check", "--", "ls"}},
		{name: "hook", argv: []string{bin, "hook", "claude-code"}, input: event},
		{name: "full-hook", argv: []string{full, "hook", "claude-code"}, input: event},
		{name: "full-version", argv: []string{full, "version"}},
		{name: "full-check", argv: []string{full, "check", "--", "ls"}},
		{name: "own-rules", argv: []string{full, "--config", own, "check", "--", "ls"}},
	}
	entry := filepath.Join(os.Getenv("CLIENTS_DIR"), "node_modules/cc-safety-net/dist/bin/cc-safety-net.js")
	peer := -1
	if _, err := os.Stat(entry); err == nil {
		peer = len(commands)
		commands = append(commands, commands[3])
		commands[peer].name, commands[peer].argv = "cc-safety-net", []string{"node", entry, "hook", "--claude-code"}
	} else {
		b.Log("without cc-safety-net: make mcp-clients")
	}
	check := commands[2]
	check.run(b, check.argv, "") // starts the resident process
	defer check.run(b, []string{full, "serve", "--stop"}, "")
	await.True(b, "the resident process answers", func() bool {
		return exec.Command(full, "serve", "--status").Run() == nil
	})
	for i := range commands { // caches: of files, of compiled rules, of what a sandbox shows
		commands[i].run(b, commands[i].argv, commands[i].input)
		commands[i].runs = runs{}
	}
	for b.Loop() {
		for i := range commands {
			commands[i].run(b, commands[i].argv, commands[i].input)
		}
	}
	for _, c := range commands {
		b.ReportMetric(float64(c.cpu.quantile(0.5))/float64(time.Millisecond), c.name+"-cpu-ms")
		if c.name != "empty" {
			b.ReportMetric(float64(c.cpu.quantile(0.5))/float64(commands[0].cpu.quantile(0.5)), c.name+"-x-empty-cpu")
			b.ReportMetric(float64(c.wall.quantile(0.5))/float64(commands[0].wall.quantile(0.5)), c.name+"-x-empty-wall")
		}
	}
	hook := commands[3].wall.quantile(0.5) - commands[0].wall.quantile(0.5)
	b.ReportMetric(float64(hook)/float64(time.Millisecond), "hook-beyond-empty-wall-ms")
	if peer >= 0 {
		ratio(b, commands[3].wall, commands[peer].wall, "hook-cc-safety-net-wall")
	}
	ratio(b, commands[7].cpu, commands[6].cpu, "own-rules-100-full-check-cpu")
	for _, program := range []string{bin, full} {
		info, err := os.Stat(program)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(info.Size())/1e6, filepath.Base(program)+"-MB")
	}
}
