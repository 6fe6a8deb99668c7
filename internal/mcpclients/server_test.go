package mcpclients

import (
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/live"
)

// TestAgentsServer holds that the settings of sallyport setup work in the real agents without a question: the
// tools of the server run, a refusal reaches the model with its rule, files are written and edited, a command
// that would free the agent is refused, and the agent's own shell is gone.
func TestAgentsServer(t *testing.T) {
	t.Parallel()
	for _, a := range agents(t) {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			p, env := arm(t, a, "")
			p.sallyport(t, "setup", "--agent", a.name, "--workspace", p.workspace, "--yes")
			p.settings(t, "workspace: "+p.workspace+"\n")
			call := func(tool string, input map[string]any) live.Call {
				switch a.name {
				case "claude-code":
					return live.Call{Tool: "mcp__sallyport__" + tool, Input: input}
				case "codex":
					return live.Call{Tool: tool, In: "mcp__sallyport", Input: input}
				}
				return live.Call{Tool: "mcp_sallyport_" + tool, Input: input}
			}
			edits := []any{map[string]any{"old_text": "one", "new_text": "two"}}
			made := []any{map[string]any{"old_text": "", "new_text": "new\n"}}
			results := p.drive(t, a, live.Script{Main: []live.Call{
				call("execute_command", map[string]any{"command": "echo one > file; touch allowed"}),
				call("execute_command", map[string]any{"command": "(sudo -n true || true); touch denied"}),
				call("read_file", map[string]any{"path": "file"}),
				call("edit_file", map[string]any{"path": "file", "edits": edits}),
				call("execute_command", map[string]any{"command": "mkdir -p .claude; echo {} > .claude/settings.json"}),
				call("execute_command", map[string]any{"command": "git branch -D x"}),
				call("execute_command", map[string]any{"command": "seq 1 200000"}),
				a.shell("touch own"),
				call("edit_file", map[string]any{"path": "new", "edits": made}),
			}}, env)
			if got := p.made(t); got != "allowed file new" {
				t.Errorf("made %q", got)
			}
			for i, want := range []string{"", "dangerous/privilege", "one", "", "system/freed_agent", "git/",
				"200000", ""} {
				if i >= len(results) || !strings.Contains(results[i], want) {
					t.Fatalf("result %d of %q has no %q", i, results, want)
				}
			}
			if said := results[5]; strings.Contains(said, "the person who was asked") {
				t.Errorf("nobody was asked, and the model reads: %s", said)
			}
			if len(results[6]) > 60_000 {
				t.Errorf("a long output has %d characters", len(results[6]))
			}
		})
	}
}
