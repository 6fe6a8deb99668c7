package mcpclients

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/internal/live"
)

// TestAgentsPrograms holds that the models of real agents read about a refused program in the middle of make:
// its way, its rule and an alternative, though make ends with 0. The server tells it, and Claude Code's own
// shell in mode run. The agents that can ask are asked in the middle of make, and refuse: nobody is there.
func TestAgentsPrograms(t *testing.T) {
	t.Parallel()
	leftout.Command(t, "bwrap")
	leftout.Command(t, "make")
	for _, a := range hooked(t) {
		for _, by := range []string{"server", "shell"} {
			if by == "shell" && a.name != "claude-code" { // the hooks of the others only judge
				continue
			}
			t.Run(a.name+"/"+by, func(t *testing.T) {
				t.Parallel()
				mode := ""
				if by == "shell" {
					mode = "run"
				}
				p, env := arm(t, a, mode)
				p.confine(t, "programs: {mode: judged, ask: wait}\ntimeout: 1h\n")
				for name, text := range map[string]string{
					"Makefile": "all:\n\t@sh run.sh\n\t@echo cleaned\n",
					"run.sh":   "while read -r words; do $words; done < steps\n",
					"steps":    "rm -rf .git\n./npm publish\ntouch made\n", ".git/HEAD": "ref: refs/heads/main\n",
					".git/config": "", ".git/objects/x": "", ".git/refs/x": "",
				} {
					p.write(t, name, text)
				}
				must(t, os.Chmod(p.write(t, "npm", "#!/bin/sh\ntouch published\n"), 0o755))
				call := a.shell("make")
				if by == "server" {
					call = p.served(t, a)
				}
				results, _ := p.driven(t, a, live.Script{Main: []live.Call{call}}, env)
				asked := slices.ContainsFunc(p.records(t), func(r record) bool { return strings.HasPrefix(r.By, "mcp:") })
				asks := by == "server" && a.name != "gemini" && a.name != "opencode"
				if asked != asks {
					t.Errorf("asked in the middle of make: %v, want %v", asked, asks)
				}
				for _, want := range []string{
					"cleaned", "refused to start: rm -rf .git (by make -", "sh run.sh): deletion/critical_place: ",
					"nstead: Move the thing aside", "refused to start: ./npm publish (by make -",
				} {
					if !strings.Contains(results[0], want) {
						t.Errorf("the model does not read %q: %q", want, results)
					}
				}
				if got := p.made(t); !strings.Contains(got, "made") || strings.Contains(got, "published") {
					t.Errorf("the workspace has %q", got)
				}
				if _, err := os.Stat(filepath.Join(p.workspace, ".git", "HEAD")); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// served connects an agent to the server, and returns a call of it that runs make. Setup knows three agents;
// the others get the entries of their documentation.
func (p armed) served(t *testing.T, a agent) live.Call {
	t.Helper()
	call := live.Call{Tool: "mcp_sallyport_execute_command", Input: map[string]any{"command": "make"}}
	switch a.name {
	case "claude-code":
		call.Tool = "mcp__sallyport__execute_command"
	case "codex":
		call.Tool, call.In = "execute_command", "mcp__sallyport"
	case "copilot":
		call.Tool = "sallyport-execute_command"
		p.setting(t, ".copilot/mcp-config.json", `{"mcpServers": {"sallyport": {"type": "local", "command": "`+
			p.own+`", "args": ["mcp"], "tools": ["*"]}}}`)
		return call
	case "opencode":
		call.Tool = "sallyport_execute_command"
		p.setting(t, ".config/opencode/opencode.json", `{"mcp": {"sallyport": {"type": "local", "command": ["`+
			p.own+`", "mcp"], "enabled": true}}}`)
		return call
	}
	p.sallyport(t, "setup", "--agent", a.name, "--workspace", p.workspace, "--yes")
	return call
}

// setting writes a file of settings below the home directory.
func (p place) setting(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join(p.home, name)
	must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	must(t, os.WriteFile(file, []byte(text), 0o600))
}
