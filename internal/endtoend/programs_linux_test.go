package endtoend

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"

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
					"run.sh":    "while read -r words; do $words; done < steps\n",
					"steps":     "touch made\nrm -rf .git\ntouch more\n",
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
					"programs: 3 started, 1 refused", "\n    sh run.sh\n", "\n      touch made\n",
					"refused to start: rm -rf .git (by sh run.sh)",
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

// A test may delete the repository that it has just made. A repository that was there before is asked about,
// also where a program of the same command has tried to make it.
func TestOwnRepositoriesAreDeleted(t *testing.T) {
	t.Parallel()
	leftout.Command(t, "git")
	workspace, env := home(t)
	configure(t, filepath.Dir(workspace), "version: 1\nprograms: {mode: judged, ask: refuse}\n"+withoutSandbox)
	files := map[string]string{
		"old/.git/HEAD": "ref: refs/heads/main\n", "old/.git/objects/x": "", "old/.git/refs/x": "", "new/file": "",
		"run.sh": "while read -r in words; do (cd $in && $words); done < steps\n",
		"steps":  "old git init -q\nnew git init -q\n. rm -rf old\n. rm -rf new\n",
	}
	for name, text := range files {
		file := filepath.Join(workspace, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := run(t, workspace, env, program, "exec", "--", "sh", "run.sh")
	if !strings.Contains(r.stderr, "refused to start: rm -rf old (by sh run.sh): deletion/critical_place") {
		t.Errorf("%+v", r)
	}
	for name, want := range map[string]bool{"old/.git/HEAD": true, "new": false} {
		if _, err := os.Stat(filepath.Join(workspace, name)); (err == nil) != want {
			t.Errorf("%s: %v; %s", name, err, r.stderr)
		}
	}
}

// asking writes a Makefile that starts a program that policies ask about, and another one.
func asking(t *testing.T, workspace string) {
	t.Helper()
	for name, text := range map[string]string{
		"run.sh": "while read -r words; do $words; done < steps\n", "steps": "./npm publish\ntouch more\n",
		"npm": "#!/bin/sh\necho published\n", "Makefile": "all:\n\t@sh run.sh\n",
	} {
		if err := os.WriteFile(filepath.Join(workspace, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// refusedAsked is the line about the refusal of that program.
const refusedAsked = "refused to start: ./npm publish (by make -> sh run.sh): system/publish"

// A program that policies ask about in the middle of make waits for the person behind an MCP client. It does
// not start after a no, nor without an answer in time, and the command goes on.
func TestProgramsAreAsked(t *testing.T) {
	t.Parallel()
	leftout.Command(t, "bwrap")
	leftout.Command(t, "make")
	for _, tc := range []struct{ name, answer, limit, want string }{
		{"accept", `{"action":"accept","content":{"approve":true}}`, "1h", "published\n"},
		{"decline", `{"action":"decline"}`, "1h", ""},
		{"no answer", "", "2s", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, "programs: {mode: judged}", "limits: {approval: "+tc.limit+"}", unhurried)
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
			asking(t, s.workspace)
			running, _ := s.ask("execute_command", map[string]any{"command": "make"})
			question := await.Receive(t, "the question", s.wire.asked)
			if !strings.Contains(string(question.Params), `(started by make -\u003e sh run.sh)`) {
				t.Errorf("the question is %s", question.Params)
			}
			answer := func(result string) {
				s.raw(`{"jsonrpc":"2.0","id":` + string(question.ID) + `,"result":` + result + `}`)
			}
			if tc.answer != "" {
				answer(tc.answer)
			}
			r := s.result(s.reply(running)).Structured
			if r.Stdout != tc.want || strings.Contains(r.Stderr, refusedAsked) == (tc.want != "") {
				t.Errorf("%+v", r)
			}
			if _, err := os.Stat(filepath.Join(s.workspace, "more")); err != nil {
				t.Error(err)
			}
			if tc.answer == "" {
				answer(`{"action":"accept","content":{"approve":true}}`) // too late
			}
			s.alive()
		})
	}
}

// A person at a terminal is asked in the middle of make, in the same three ways.
func TestProgramsAreAskedAtATerminal(t *testing.T) {
	t.Parallel()
	leftout.Command(t, "make")
	for _, tc := range []struct{ name, types, limit string }{
		{"yes", "yes\r", "1h"}, {"no", "no\r", "1h"}, {"no answer", "", "2s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			workspace, env := home(t)
			configure(t, filepath.Dir(workspace), "version: 1\nprograms: {mode: judged}\ntimeout: 1h\n"+
				"limits: {approval: "+tc.limit+"}\n"+withoutSandbox)
			asking(t, workspace)
			cmd := exec.Command(program, "exec", "--", "make")
			cmd.Dir, cmd.Env = workspace, append(env, "NO_COLOR=1")
			tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 60, Cols: 400})
			if err != nil {
				leftout.Skip(t, leftout.Platform, "open a pseudo terminal: "+err.Error()+": mount devpts")
			}
			defer tty.Close()
			var shown strings.Builder
			for buf, typed := make([]byte, 4096), false; ; {
				n, err := tty.Read(buf)
				shown.Write(buf[:n])
				if err != nil { // EIO: nobody has the terminal open any more
					break
				}
				if !typed && strings.Contains(shown.String(), "Type yes to allow it") {
					typed = true
					if _, err := tty.WriteString(tc.types); err != nil {
						t.Error(err)
					}
				}
			}
			if err := cmd.Wait(); err != nil { // the script does not look at the status of its programs
				t.Error(err)
			}
			published := tc.name == "yes"
			for text, want := range map[string]bool{
				"asks to run in " + workspace: true, "(started by make -> sh run.sh)": true, "system/publish": true,
				"no answer": tc.types == "", "\npublished\r": published, refusedAsked: !published,
			} {
				if strings.Contains(shown.String(), text) != want {
					t.Errorf("%q is shown: %v\n%s", text, !want, shown.String())
				}
			}
			if _, err := os.Stat(filepath.Join(workspace, "more")); err != nil {
				t.Error(err)
			}
		})
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
