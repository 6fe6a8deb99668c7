package mcpclients

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/sallyport-dev/sallyport/internal/live"
)

var dayTasks = flag.Int("day.tasks", 2, "tasks of testdata/day.yaml that TestDay has each agent work on; 30 are all")

const (
	dayHours    = 8
	mostPerHour = 4 // questions
)

// task is a task of an agent's day.
type task struct {
	Task   string   `yaml:"task"`
	Run    []string `yaml:"run"`
	Refuse []string `yaml:"refuse"` // a person would
}

func (w task) texts() []string { return slices.Concat(w.Run, w.Refuse) }

// answered is a call as the hook's record has it.
type answered struct {
	Kind  string `json:"kind"`
	Hook  string `json:"hook"`
	Input struct {
		Request struct {
			Command string `json:"command"`
		} `json:"request"`
	} `json:"input"`
	Result struct {
		Effect  string `json:"effect"`
		Reasons []struct{ Rule, Message, Remediation string }
	} `json:"result"`
}

// workOn has an agent work on a task in a place of its own, and returns the decisions of its hook. Programs that
// would leave the machine or change it do nothing.
func workOn(t *testing.T, a agent, w task) []answered {
	t.Helper()
	p, env := arm(t, a, "judge")
	t.Cleanup(func() { // Gemini CLI leaves the background processes of its shell
		for pid, line := range p.processes() {
			if strings.Contains(line, "http.server") {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	})
	still := t.TempDir()
	for _, name := range strings.Fields("apt-get aspell docker gh jq npm npx pip pip3 pkill pre-commit psql shellcheck") {
		must(t, os.WriteFile(filepath.Join(still, name), []byte("#!/bin/sh\n"), 0o755))
	}
	for i, v := range env {
		if rest, ok := strings.CutPrefix(v, "PATH="); ok {
			env[i] = "PATH=" + still + ":" + rest
		}
	}
	p.write(t, "main.go", "package main\n\nfunc main() {}\n")
	p.write(t, "parse/parse.go", "package parse\n")
	p.write(t, "parse/parse_test.go", "package parse\n")
	p.write(t, "CHANGELOG.md", "## Unreleased\n")
	p.write(t, "go.mod", "module example.org/demo\n\ngo 1.26\n")
	const repository = "git init -q -b main && git config user.name ann && git config user.email ann@example.org && " +
		"git add -A && git commit -qm start"
	p.mustRun(t, "", "sh", "-c", repository)
	var script live.Script
	for _, text := range w.texts() {
		script.Main = append(script.Main, a.shell(text))
	}
	results := p.drive(t, a, script, env)
	var out []answered
	for line := range strings.Lines(p.sallyport(t, "audit", "list", "--format", "json", "-n", "0")) {
		var r answered
		must(t, json.Unmarshal([]byte(line), &r))
		if r.Kind == "decision" && r.Hook == a.name && slices.Contains(w.texts(), r.Input.Request.Command) {
			out = append(out, r)
		}
	}
	if len(out) != len(script.Main) {
		t.Fatalf("%s: %d decisions of %d calls: %+v\nresults: %q", w.Task, len(out), len(script.Main), out, results)
	}
	return out
}

// TestDay counts the questions of a day with real agents under the profile standard. There are at most four an
// hour besides those about commands that a person would refuse, and each names another way forward.
func TestDay(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "day.yaml"))
	must(t, err)
	var tasks []task
	must(t, yaml.Unmarshal(text, &tasks))
	for _, a := range hooked(t) {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			worked, calls, denied, asked, right := 0, 0, 0, 0, 0
			for i := len(tasks) - 1; i >= 0 && worked < *dayTasks; i -= max(1, len(tasks) / *dayTasks) {
				worked++
				for _, j := range workOn(t, a, tasks[i]) {
					text := j.Input.Request.Command
					bad := slices.Contains(tasks[i].Refuse, text)
					calls++
					switch j.Result.Effect {
					case "ask":
						asked++
						if bad {
							right++
						}
						t.Logf("asked: %s: %+v", text, j.Result.Reasons)
						if len(j.Result.Reasons) == 0 || j.Result.Reasons[0].Remediation == "" {
							t.Errorf("the question about %s names no other way", text)
						}
					case "deny":
						denied++
						t.Logf("denied: %s: %+v", text, j.Result.Reasons)
					default:
						if bad {
							t.Errorf("%s is allowed", text)
						}
					}
				}
			}
			hours := dayHours * float64(worked) / float64(len(tasks))
			t.Logf("%d tasks, %d calls, %d denied, %d asked: %.1f an hour; a person would refuse %d of the questions",
				worked, calls, denied, asked, float64(asked)/hours, right)
			if float64(asked-right) > mostPerHour*hours {
				t.Errorf("%d questions in %.1f hours", asked-right, hours)
			}
		})
	}
}
