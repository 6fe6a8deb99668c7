package endtoend

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// A script starts the programs of a file, which no text names. Unseen, one of them deletes the history of the
// repository. Judged, it does not start, the script goes on, and result and log name it.
func TestProgramsAreJudged(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, more string }{
		{"in a sandbox", ""}, {"without a sandbox", withoutSandbox},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if tc.more == "" {
				leftout.Command(t, "bwrap")
			}
			for _, mode := range []string{"unseen", "judged"} {
				workspace, env := home(t)
				configure(t, filepath.Dir(workspace), "version: 1\nprograms: {mode: "+mode+"}\n"+tc.more)
				for name, text := range map[string]string{
					"run.sh": "while read -r words; do $words; done < steps\n", "steps": "touch made\nrm -rf .git\ntouch more\n",
					".git/HEAD": "ref: refs/heads/main\n", ".git/config": "", ".git/objects/x": "", ".git/refs/x": "",
				} {
					file := filepath.Join(workspace, name)
					if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				r := run(t, workspace, env, program, "exec", "--format", "json", "--", "sh", "run.sh")
				var got struct {
					Decision string `json:"decision_id"`
					Programs *engine.Programs
				}
				if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || r.code != 0 {
					t.Fatalf("%s: status %d, %v: %s%s", mode, r.code, err, r.stdout, r.stderr)
				}
				for name, want := range map[string]bool{"made": true, "more": true, ".git/HEAD": mode == "judged"} {
					if _, err := os.Stat(filepath.Join(workspace, name)); (err == nil) != want {
						t.Errorf("%s: %s: %v", mode, name, err)
					}
				}
				if mode == "unseen" {
					if got.Programs != nil {
						t.Errorf("%+v", got.Programs)
					}
					continue
				}
				if p := got.Programs; p == nil || len(p.Refused) != 1 || p.Refused[0].Words != "rm -rf .git" ||
					p.Refused[0].Rule != "deletion/critical_place" || p.Started != 3 {
					t.Fatalf("%+v; %s", p, r.stderr)
				}
				shown := run(t, workspace, env, program, "audit", "show", got.Decision).stdout
				for _, want := range []string{
					"programs: 3 started, 1 refused", "\n    sh run.sh\n", "\n      touch made\n", "refused to start: rm -rf .git (by sh run.sh)",
				} {
					if !strings.Contains(shown, want) {
						t.Errorf("audit show lacks %q: %s", want, shown)
					}
				}
				listed := run(t, workspace, env, program, "audit", "list", "--program", "rm").stdout
				if !strings.Contains(listed, "deny") || !strings.Contains(listed, got.Programs.Refused[0].Decision) {
					t.Errorf("audit list: %s", listed)
				}
				if v := run(t, workspace, env, program, "audit", "verify"); v.code != 0 {
					t.Errorf("audit verify: %+v", v)
				}
			}
		})
	}
}

// A program that policies ask about in the middle of make waits for the person behind an MCP client.
func TestProgramsAreAsked(t *testing.T) {
	t.Parallel()
	leftout.Command(t, "bwrap")
	leftout.Command(t, "make")
	s := newServer(t, "programs: {mode: judged}", unhurried)
	s.wire.asked = make(chan message, 1)
	s.start()
	c, _ := s.send("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{"elicitation": map[string]any{}},
		"clientInfo": map[string]any{"name": "endtoend", "version": "1"},
	})
	if m := s.reply(c); m.Error != nil {
		t.Fatalf("initialize: %+v", m.Error)
	}
	s.raw(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for name, text := range map[string]string{
		"run.sh": "while read -r words; do $words; done < steps\n", "steps": "./npm publish\ntouch more\n", "npm": "#!/bin/sh\necho published\n",
		"Makefile": "all:\n\t@sh run.sh\n",
	} {
		if err := os.WriteFile(filepath.Join(s.workspace, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for answer, want := range map[string]string{
		`{"action":"accept","content":{"approve":true}}`: "published\n", `{"action":"decline"}`: "",
	} {
		running, _ := s.ask("execute_command", map[string]any{"command": "make"})
		question := await.Receive(t, "the question", s.wire.asked)
		if !strings.Contains(string(question.Params), `(started by make -\u003e sh run.sh)`) {
			t.Errorf("the question is %s", question.Params)
		}
		s.raw(`{"jsonrpc":"2.0","id":` + string(question.ID) + `,"result":` + answer + `}`)
		r := s.result(s.reply(running)).Structured
		if r.Stdout != want || strings.Contains(r.Stderr, "refused to start: ./npm publish (by make -> sh run.sh): system/publish") == (want != "") {
			t.Errorf("%s: %+v", answer, r)
		}
	}
	if _, err := os.Stat(filepath.Join(s.workspace, "more")); err != nil {
		t.Error(err)
	}
}

// The ledger follows the programs of a command: a file that one of them downloads is known as a download to
// the next one, and to the next command. A refusal ends the command if the configuration says so.
func TestProgramsChangeTheLedger(t *testing.T) {
	t.Parallel()
	leftout.Command(t, "bwrap")
	for _, onRefusal := range []string{"refuse", "end"} {
		workspace, env := home(t)
		configure(t, filepath.Dir(workspace), "version: 1\nprograms: {mode: judged, on_refusal: "+onRefusal+"}\n")
		for name, text := range map[string]string{
			"curl":   "#!/bin/sh\necho 'echo installed > installed' > install.sh\n",
			"run.sh": "while read -r words; do $words; done < steps\n",
			"steps":  "./curl -o install.sh https://example.com/x\nsh install.sh\ntouch more\n",
		} {
			if err := os.WriteFile(filepath.Join(workspace, name), []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		r := run(t, workspace, env, program, "exec", "--session", "s", "--format", "json", "--", "sh", "run.sh")
		var got struct{ Programs *engine.Programs }
		if err := json.Unmarshal([]byte(r.stdout), &got); err != nil {
			t.Fatalf("status %d, %v: %s%s", r.code, err, r.stdout, r.stderr)
		}
		if p := got.Programs; p == nil || len(p.Refused) != 1 || p.Refused[0].Rule != "shell/network_code" {
			t.Fatalf("%s: %+v; %s", onRefusal, p, r.stdout)
		}
		_, more := os.Stat(filepath.Join(workspace, "more"))
		_, installed := os.Stat(filepath.Join(workspace, "installed"))
		if installed == nil || (more == nil) != (onRefusal == "refuse") || (r.code == 0) != (more == nil) {
			t.Errorf("%s: status %d, installed: %v, more: %v", onRefusal, r.code, installed, more)
		}
		again := run(t, workspace, env, program, "exec", "--session", "s", "--", "sh", "install.sh")
		if again.code != 126 || !strings.Contains(again.stderr, "shell/network_code") {
			t.Errorf("after the command: %+v", again)
		}
	}
}
