package mcpclients

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/internal/live"
	"github.com/sallyport-dev/sallyport/internal/testprogram"
)

// TestWrap holds that the real Claude Code works inside of sallyport wrap: its hooks and its MCP server are
// judged outside, as one session, and a program that it starts without a hook reaches neither the home
// directory nor its own settings. Without wrap the same program does.
func TestWrap(t *testing.T) {
	t.Parallel()
	leftout.Command(t, "bwrap")
	a := agents(t)[0]
	for _, wrapped := range []bool{false, true} {
		t.Run(fmt.Sprintf("wrapped=%v", wrapped), func(t *testing.T) {
			t.Parallel()
			p, env := arm(t, a, "judge")
			must(t, testprogram.Build(filepath.Dir(p.own), "cmd/sallyport-supervisor"))
			p.serves(t, a)
			// A hook of the user's own, which starts with the agent: nobody judges it.
			p.startsWith(t, `cat ~/.ssh/key > key.txt; touch ~/outside; echo '{}' > ~/.claude/settings.json;
				mkdir -p ~/.claude/plans; echo other > ~/.claude/plans/plan.md; touch began`)
			plan := filepath.Join(p.home, ".claude", "plans", "plan.md") // of another project
			must(t, os.MkdirAll(filepath.Dir(plan), 0o700))
			must(t, os.WriteFile(plan, []byte("mine\n"), 0o600))
			must(t, os.MkdirAll(filepath.Join(p.home, ".ssh"), 0o700))
			must(t, os.WriteFile(filepath.Join(p.home, ".ssh", "key"), []byte("secret"), 0o600))
			p.write(t, "notes.txt", "seen\n")
			argv := a.program
			if wrapped { // with its own permissions, as this test gives them, an agent is refused
				refused := p.run(t, "", p.own, "wrap", "--", a.program[0], "--allowedTools", "Bash")
				if refused.code != 126 || !strings.Contains(refused.stderr, "system/freed_agent") {
					t.Fatalf("the start is not judged: %d %s", refused.code, refused.stderr)
				}
				p.configure(t, "rules: {system/freed_agent: 'off'}\n")
				argv = append([]string{p.own, "wrap", "--"}, argv...)
			}
			said, results := p.converse(t, a, argv, env,
				a.shell("touch allowed"), a.shell("(sudo -n true || true); touch denied"),
				live.Call{Tool: "mcp__sallyport__read_file", Input: map[string]any{"path": "notes.txt"}},
				a.shell("rm notes.txt"))
			settings, err := os.ReadFile(filepath.Join(p.home, a.hooks))
			must(t, err)
			key, err := os.ReadFile(filepath.Join(p.workspace, "key.txt"))
			must(t, err)
			_, missing := os.Stat(filepath.Join(p.home, "outside"))
			planned, err := os.ReadFile(plan)
			must(t, err)
			if (string(planned) == "mine\n") != wrapped {
				t.Errorf("the plan of another project is now %q", planned)
			}
			if !wrapped {
				if string(key) != "secret" || missing != nil || strings.Contains(string(settings), "hooks") {
					t.Errorf("without wrap: key %q, %v, settings %s", key, missing, settings)
				}
				return
			}
			if len(key) > 0 || missing == nil || !strings.Contains(string(settings), "hooks") {
				t.Errorf("not confined: key %q, %v, settings %s", key, missing, settings)
			}
			if got, want := p.made(t), "allowed began key.txt"; got != want {
				t.Errorf("the workspace has %q, want %q; results %q\n%s", got, want, results, said)
			}
			if len(results) != 4 || !strings.Contains(results[1], "dangerous/privilege") {
				t.Errorf("results %q", results)
			}
			logs, err := filepath.Glob(filepath.Join(p.home, ".claude", "projects", "*", "*.jsonl"))
			must(t, err)
			if len(logs) != 1 { // in the one directory there that lasts
				t.Errorf("the logs of the agent: %q", logs)
			}
			log := p.sallyport(t, "audit", "list", "--kind", "decision", "--format", "json")
			if !strings.Contains(log, `"tool":"wrap"`) || strings.Count(log, `"session":"wrap-`) != 6 {
				t.Errorf("the record: %.4000s", log)
			}
			if !strings.Contains(said, "allowed") || !strings.Contains(said, "confined all else") {
				t.Errorf("wrap does not tell the changes: %s", said)
			}
		})
	}
}

// startsWith gives Claude Code a command that runs at its start.
func (p armed) startsWith(t *testing.T, command string) {
	t.Helper()
	file := filepath.Join(p.home, p.agent.hooks)
	text, err := os.ReadFile(file)
	must(t, err)
	var all map[string]any
	must(t, json.Unmarshal(text, &all))
	all["hooks"].(map[string]any)["SessionStart"] = []any{
		map[string]any{"hooks": []any{map[string]any{"type": "command", "command": command}}},
	}
	text, err = json.Marshal(all)
	must(t, err)
	must(t, os.WriteFile(file, text, 0o600))
}

// converse has an agent make calls. Its settings of this run lie in the workspace.
func (p armed) converse(
	t *testing.T, a agent, argv, env []string, calls ...live.Call,
) (said string, results []string) {
	t.Helper()
	m, err := live.Serve(live.Script{Main: calls})
	must(t, err)
	defer m.Close()
	h, err := live.Named(a.name)
	must(t, err)
	dir := filepath.Join(p.workspace, ".run")
	must(t, os.Mkdir(dir, 0o700))
	line, err := h.Line(m.URL, dir, true)
	must(t, err)
	for _, word := range line.Argv[1:] {
		if word != "--strict-mcp-config" && word != "--no-session-persistence" {
			argv = append(argv, word)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), await.Guard)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = p.workspace, line.Over(env)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%q: %v: %s", argv, err, out)
	}
	return string(out), m.Results(false)
}
