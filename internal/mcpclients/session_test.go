package mcpclients

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/internal/live"
)

// serves gives an agent the MCP server, besides its own shell.
func (p armed) serves(t *testing.T, a agent) {
	t.Helper()
	if a.name == "gemini" { // its hooks are in the same file
		const server = `{"mcpServers": {"sallyport": {"command": %q, "args": ["mcp"], "trust": true}},`
		p.prepends(t, fmt.Sprintf(server, p.own))
		return
	}
	file, text := ".claude.json", fmt.Sprintf(
		`{"mcpServers": {"sallyport": {"command": %q, "args": ["mcp"]}}}`, p.own)
	if a.name == "codex" {
		file, text = ".codex/config.toml", fmt.Sprintf("[mcp_servers.sallyport]\ncommand = %q\nargs = [\"mcp\"]\n"+
			"default_tools_approval_mode = \"approve\"\n", p.own)
	}
	must(t, os.WriteFile(filepath.Join(p.home, file), []byte(text), 0o600))
	if a.name == "claude-code" {
		p.prepends(t, `{"permissions": {"allow": ["mcp__sallyport"]},`)
	}
}

// prepends puts a text in the place of the first brace of the settings with the hooks.
func (p armed) prepends(t *testing.T, text string) {
	t.Helper()
	file := filepath.Join(p.home, p.agent.hooks)
	settings, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, []byte(strings.Replace(string(settings), "{", text, 1)), 0o600))
}

// TestSessionOfAgent holds that the hooks and the MCP server of one agent are one session: its shell may
// delete a file that it has read by the server, and so may that of its subagent. Another agent, which has not
// read the file, may not.
func TestSessionOfAgent(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		leftout.Skip(t, leftout.Platform, "sessions of processes are known on Linux only")
	}
	for _, a := range agents(t) {
		for _, mode := range []string{"judge", "run"} {
			if mode == "run" && a.name != "claude-code" {
				continue
			}
			t.Run(a.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				p, env := arm(t, a, mode)
				p.serves(t, a)
				p.write(t, "notes.txt", "seen\n")
				read := live.Call{Tool: "mcp__sallyport__read_file", Input: map[string]any{"path": "notes.txt"}}
				switch a.name {
				case "codex":
					read.Tool, read.In = "read_file", "mcp__sallyport"
				case "gemini":
					read.Tool = "mcp_sallyport_read_file"
				}
				remove := a.shell("rm notes.txt")
				results := p.drive(t, a, live.Script{Main: []live.Call{remove}}, env)
				if p.made(t) != "notes.txt" || !strings.Contains(results[0], "deletion/read_before_delete") {
					t.Fatalf("the unread file: %q, %q", p.made(t), results)
				}
				results = p.drive(t, a, live.Script{Main: []live.Call{read}}, env)
				if !strings.Contains(results[0], "seen") {
					t.Fatalf("the other agent does not read: %q", results)
				}
				p.drive(t, a, live.Script{Main: []live.Call{remove}}, env)
				if p.made(t) != "notes.txt" {
					t.Fatal("an agent deletes a file that another one has read")
				}
				results = p.drive(t, a, live.Script{Main: []live.Call{read, remove}}, env)
				if got := p.made(t); got != "" {
					t.Errorf("the read file is left: %q", results)
				}
				if a.name != "claude-code" {
					return
				}
				p.write(t, "notes.txt", "seen\n")
				delegate := live.Call{Tool: "Agent", Input: map[string]any{
					"description": "test", "prompt": live.SubagentPrompt, "subagent_type": "general-purpose",
					"run_in_background": false,
				}}
				script := live.Script{Main: []live.Call{read, delegate}, Subagent: []live.Call{remove}}
				results = p.drive(t, a, script, env)
				if got := p.made(t); got != "" {
					t.Errorf("the subagent is of another session: %q", results)
				}
			})
		}
	}
}

// TestVariablesEnd holds that a call of an agent's shell does not set the variables of the next one: the one
// that names another home directory to Sallyport would have to do that in its own text.
func TestVariablesEnd(t *testing.T) {
	t.Parallel()
	for _, a := range agents(t) {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			p, env := arm(t, a, "judge")
			results := p.drive(t, a, live.Script{Main: []live.Call{
				a.shell("export HOME=/other SALLYPORT=x; touch made"), a.shell("echo home=$HOME, x=$SALLYPORT."),
				a.shell("export HOME=/other; sallyport audit verify; touch verified"),
			}}, env)
			if p.made(t) != "made" || !strings.Contains(results[1], "home="+p.home+", x=.") ||
				!strings.Contains(results[2], "paths/self") {
				t.Errorf("made %q, results %q", p.made(t), results)
			}
		})
	}
}
