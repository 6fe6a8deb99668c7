package outside_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/internal/testprogram"
)

// user is a home directory with the programs of an installation, a project and an agent.
type user struct{ home, project, bin string }

func newUser(t *testing.T, agent string) user {
	t.Helper()
	leftout.Command(t, "bwrap")
	home := t.TempDir()
	u := user{home, filepath.Join(home, "project"), filepath.Join(home, ".local", "bin")}
	config := filepath.Join(home, ".config", "sallyport")
	for _, dir := range []string{u.project, u.bin, filepath.Join(home, ".ssh"), config} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		".ssh/key": "secret", ".claude.json": `{"mine":true}`, ".local/bin/claude": "#!/bin/bash\n" + agent,
		".config/sallyport/config.yaml": "version: 1\nhooks: {mode: run}\n", // inside, hooks judge only
	} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := testprogram.Build(u.bin, "sallyport=internal/front", "sallyport-full=cmd/sallyport",
		"cmd/sallyport-supervisor"); err != nil {
		t.Fatal(err)
	}
	return u
}

// run runs a program in the project.
func (u user) run(t *testing.T, argv ...string) (status int, said string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(u.bin, argv[0]), argv[1:]...)
	cmd.Dir = u.project
	cmd.Env = []string{"HOME=" + u.home, "PATH=" + u.bin + ":" + os.Getenv("PATH"), "NO_COLOR=1"}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

func (u user) has(name string) bool {
	_, err := os.Lstat(filepath.Join(u.home, name))
	return err == nil
}

func (u user) text(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(u.home, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// event is an event of a shell command.
func event(command string) string {
	return fmt.Sprintf(`{"session_id":"s","cwd":"'$PWD'","hook_event_name":"PreToolUse","tool_use_id":"a",`+
		`"tool_name":"Bash","tool_input":{"command":"%s"}}`, command)
}

// TestAgent runs a stand-in for an agent without wrap and in it. Its acts without a hook are confined in
// wrap, and not without; the gate answers its hooks, and nothing of its words chooses another gate.
func TestAgent(t *testing.T) {
	t.Parallel()
	marker := fmt.Sprintf("%d.75", 1_000_000+os.Getpid())
	agent := `
cat ~/.ssh/key > key; touch ~/outside ../beside inside; (echo '{}' > ~/.claude/settings.json) 2>/dev/null
echo changed > ~/.claude.json; mkdir -p .claude; (echo '{}' > .claude/settings.local.json) 2>/dev/null
own=~/.claude/projects/$(pwd | tr -c 'a-zA-Z0-9\n' -)
for dir in $own ~/.claude/projects/-other ~/.claude/file-history/x; do mkdir -p $dir; echo note > $dir/note; done
setsid sleep ` + marker + ` </dev/null >/dev/null 2>&1 &
[ -e /run/sallyport/wrap ] || exit 0
hook() { echo "$2" | sallyport hook $1 2>&1; echo "$3 status $?"; }
hook claude-code '` + event("ls") + `' allowed
hook claude-code '` + event("sudo id") + `' denied
hook codex '` + event("ls") + `' other
SALLYPORT_WRAP=127.0.0.1:1/x hook claude-code '` + event("sudo id") + `' astray
hook "claude-code -v --config=/dev/null" '` + event("sudo id") + `' flags
for before in -v --config=/dev/null "-vv --config /dev/null"; do
  echo '` + event("sudo id") + `' | sallyport $before hook claude-code; echo "$before status $?"
  echo '` + event("sudo id") + `' | sallyport-full $before hook claude-code; echo "full $before status $?"
done
echo '` + event("sudo id") + `' | sallyport --unknown hook claude-code; echo "unknown status $?"
echo '` + event("ls") + `' | (trap '' TERM; sallyport hook claude-code; echo "unread status $?" >&2) | :
for program in sallyport sallyport-full; do $program hook claude-code <<<'{}' >&-; echo "$program closed $?"; done
(echo 127.0.0.1:1/x > /run/sallyport/wrap) 2>/dev/null; (rm -f /run/sallyport/wrap) 2>/dev/null
for more in "" "--session x" "--runner local" "--agent x" "--config /dev/null" "--http 127.0.0.1:0"; do
  echo "server [$more]: $(sallyport mcp $more <<<'{"jsonrpc":"2.0","id":1,"method":"ping"}' 2>/dev/null)"
done
sallyport exec -- touch nested 2>&1; exit 7
`
	u := newUser(t, agent)
	if status, said := u.run(t, "sallyport", "wrap", "--", "claude"); status != 125 ||
		!strings.Contains(said, "run sallyport agents install claude-code") || u.has("project/inside") {
		t.Fatalf("without a hook: %d %s", status, said)
	}
	if status, said := u.run(t, "sallyport", "agents", "install", "claude-code", "--yes"); status != 0 {
		t.Fatal(said)
	}
	off := filepath.Join(u.project, ".claude", "settings.local.json")
	if err := os.MkdirAll(filepath.Dir(off), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(off, []byte(`{"disableAllHooks": true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, said := u.run(t, "sallyport", "wrap", "--", "claude"); status != 125 ||
		!strings.Contains(said, "switches the hook off") || u.has("project/inside") {
		t.Fatalf("with a hook that is off: %d %s", status, said)
	}
	if err := os.Remove(off); err != nil {
		t.Fatal(err)
	}
	status, said := u.run(t, "sallyport", "wrap", "--", "claude")
	if status != 7 {
		t.Errorf("status %d: %s", status, said)
	}
	for _, want := range []string{
		"{}\nallowed status 0", "dangerous/privilege", "denied status 0", "it is not a hook of claude-code", "other status 2",
		"astray status 0", "flags status 2",
		"-v status 0", "--config=/dev/null status 0", "-vv --config /dev/null status 0", "full -v status 0",
		"unknown status 2", "unread status 2",
		"sallyport closed 2", "sallyport-full closed 2", `server []: {"jsonrpc":"2.0","id":1`, "server [--session x]: \n",
		"server [--runner local]: \n", "server [--agent x]: \n", "server [--config /dev/null]: \n",
		"server [--http 127.0.0.1:0]: \n", "run this outside", "sent 12 events", "created", u.project + "/inside",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q: %s", want, said)
		}
	}
	if u.has("outside") || u.has("beside") || u.text(t, "project/key") != "" || u.text(t, ".claude.json") != `{"mine":true}` ||
		!strings.Contains(u.text(t, ".claude/settings.json"), "hooks") || u.has("project/nested") {
		t.Error("it is not confined")
	}
	own := ".claude/projects/" + regexp.MustCompile("[^a-zA-Z0-9]").ReplaceAllString(u.project, "-")
	if !u.has("project/inside") || u.text(t, own+"/note") != "note\n" {
		t.Error("it does not reach the workspace and its own state")
	}
	const other, history = ".claude/projects/-other/note", ".claude/file-history/x/note"
	if u.has(other) || u.has(history) {
		t.Error("it reaches the state of another project or session")
	}
	if u.has("project/.claude/settings.local.json") {
		t.Error("it leaves settings in the project, which free it from its hooks")
	}
	if left := running(marker); left != "" {
		t.Errorf("left running: %s", left)
	}
	_, log := u.run(t, "sallyport", "audit", "list", "--format", "json")
	if !strings.Contains(log, `"tool":"wrap"`) || strings.Count(log, `"session":"wrap-`) < 3 {
		t.Errorf("the record: %.2000s", log)
	}

	if u.run(t, "claude"); !u.has("outside") || !u.has(other) || !u.has(history) || !u.has("beside") || u.text(t, "project/key") != "secret" ||
		u.text(t, ".claude.json") != "changed\n" || u.text(t, ".claude/settings.json") != "{}\n" {
		t.Error("without wrap the agent is confined, too")
	}
	await.True(t, "without wrap a process is left running", func() bool { return running(marker) != "" })
	_ = exec.Command("kill", strings.Fields(running(marker))...).Run()
}

// running lists the processes that have a word on their command line.
func running(word string) string {
	var pids []string
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil && bytes.Contains(text, []byte("\x00"+word+"\x00")) && bytes.HasPrefix(text, []byte("sleep")) {
			pids = append(pids, filepath.Base(filepath.Dir(file)))
		}
	}
	return strings.Join(pids, " ")
}

// TestStartIsJudged holds that policies refuse the start of an agent, and that a wrong agent is a wrong
// command line.
func TestStartIsJudged(t *testing.T) {
	t.Parallel()
	u := newUser(t, "touch inside\n")
	u.run(t, "sallyport", "agents", "install", "claude-code", "--yes")
	for name, words := range map[string][]string{
		"system/freed_agent":             {"--", "claude", "--dangerously-skip-permissions"},
		"is the program of no agent":     {"--", "other"},
		`--host: no agent "codex": use`:  {"--host", "codex", "--", "claude"},
		"want the command line of an ag": {},
	} {
		status, said := u.run(t, append([]string{"sallyport", "wrap"}, words...)...)
		want := 125
		if strings.HasPrefix(name, "system/") {
			want = 126
		}
		if status != want || !strings.Contains(said, name) || u.has("project/inside") {
			t.Errorf("%q: status %d: %s", words, status, said)
		}
	}
	if status, said := u.run(t, "sallyport", "wrap", "--", "claude"); status != 0 || !u.has("project/inside") {
		t.Errorf("status %d: %s", status, said)
	}
	file, text := filepath.Join(u.home, ".config/sallyport/config.yaml"), "version: 1\npaths: [{path: ~/.local, access: write}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, said := u.run(t, "sallyport", "wrap", "--", "claude"); status != 125 ||
		!strings.Contains(said, "install sallyport elsewhere") {
		t.Errorf("the agent may replace the program of its hook: status %d: %s", status, said)
	}
}

// TestServerIsConfined holds that commands of an MCP server of the agent are confined under local.sandbox: none,
// too. Without wrap they are not.
func TestServerIsConfined(t *testing.T) {
	t.Parallel()
	u := newUser(t, `
coproc S { sallyport mcp --tools shell; }
say() { echo "{\"jsonrpc\":\"2.0\",$1}" >&${S[1]}; }
say '"id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}'
read -r -u ${S[0]} line
say '"method":"notifications/initialized"'
say '"id":2,"method":"tools/call","params":{"name":"execute_command","arguments":{"command":"ls /run/sallyport; touch ran"}}'
read -r -u ${S[0]} line; echo "$line"
`)
	file := filepath.Join(u.home, ".config", "sallyport", "config.yaml")
	if err := os.WriteFile(file, []byte("version: 1\nlocal: {sandbox: none}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	u.run(t, "sallyport", "agents", "install", "claude-code", "--yes")
	for _, argv := range [][]string{{"claude"}, {"sallyport", "wrap", "--", "claude"}} {
		status, said := u.run(t, argv...)
		confined := strings.Contains(said, "sallyport-supervisor\\n") // which lies there in sandboxes alone
		if status != 0 || confined != (len(argv) > 1) || !u.has("project/ran") {
			t.Errorf("%q: status %d: %s", argv, status, said)
		}
		_ = os.Remove(filepath.Join(u.project, "ran"))
	}
}
