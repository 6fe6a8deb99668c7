package mcpclients

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/hooks"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/internal/live"
	"github.com/sallyport-dev/sallyport/internal/usersocket"
)

// agent is a real agent as these tests start it.
type agent struct {
	name    string
	program []string  // in place of the first word of its command line
	more    []string  // words in front of the prompt of Codex
	hooks   string    // settings with hooks, below the home directory
	limit   [2]string // the time limit of a hook as installed, and a short one
	shell   func(command string) live.Call
}

// agents are the agents from npm that run offline.
func agents(t *testing.T) []agent {
	t.Helper()
	dir, arch := filepath.Join(installed(t), "node_modules"), map[string]string{"amd64": "x64", "arm64": "arm64"}
	platform := runtime.GOOS + "-" + arch[runtime.GOARCH]
	claude := filepath.Join(dir, "@anthropic-ai", "claude-code-"+platform, "claude")
	found, err := filepath.Glob(filepath.Join(dir, "@openai", "codex-"+platform, "vendor", "*", "bin", "codex"))
	if err != nil || len(found) != 1 {
		leftout.Skip(t, leftout.Packages, "no Codex: make mcp-clients")
	}
	if _, err := os.Stat(claude); err != nil {
		leftout.Skip(t, leftout.Packages, "no Claude Code: make mcp-clients")
	}
	shell := func(tool, field string) func(string) live.Call {
		return func(command string) live.Call {
			c := live.Call{Tool: tool, Input: map[string]any{field: command}}
			if field == "command" {
				c.Input["description"] = "test"
			}
			return c
		}
	}
	trust := []string{"--dangerously-bypass-hook-trust"} // which a person gives at a terminal
	return []agent{
		{"claude-code", []string{claude}, nil, ".claude/settings.json", [2]string{`"timeout": 60`, `"timeout": 1`},
			shell("Bash", "command")},
		{"codex", found, trust, ".codex/hooks.json", [2]string{`"timeout": 60`, `"timeout": 1`},
			shell("exec_command", "cmd")},
		{"gemini", tool(t, "@google/gemini-cli/bundle/gemini.js"), nil, ".gemini/settings.json",
			[2]string{`"timeout": 60000`, `"timeout": 1000`}, shell("run_shell_command", "command")},
	}
}

// hooked are those, and the agents from npm that are tried with hooks alone.
func hooked(t *testing.T) []agent {
	t.Helper()
	all, dir := agents(t), filepath.Join(installed(t), "node_modules")
	platform := runtime.GOOS + "-" + map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	shell := func(command string) live.Call {
		return live.Call{Tool: "bash", Input: map[string]any{"command": command, "description": "test"}}
	}
	// Without patience, Copilot tells the end of a long command in a turn of its own.
	patient := func(command string) live.Call {
		c := shell(command)
		c.Input["initial_wait"] = 300
		return c
	}
	more := []agent{
		{"copilot", []string{filepath.Join(dir, "@github", "copilot-"+platform, "copilot")}, nil,
			".copilot/hooks/sallyport.json", [2]string{`"timeoutSec": 30`, `"timeoutSec": 1`}, patient},
		{"opencode", []string{filepath.Join(dir, "opencode-"+platform, "bin", "opencode")}, nil,
			".config/opencode/plugins/sallyport.js", [2]string{"timeout: 60000", "timeout: 1000"}, shell},
	}
	for _, a := range more {
		if _, err := os.Stat(a.program[0]); err != nil {
			leftout.Skip(t, leftout.Packages, "no "+a.name+": make mcp-clients")
		}
	}
	return append(all, more...)
}

// environ is the environment of an agent in a place. Gemini CLI reads its kind of account from settings.
func (p place) environ(t *testing.T, a agent) []string {
	t.Helper()
	if a.name == "gemini" {
		file := filepath.Join(p.home, a.hooks)
		if _, err := os.Stat(file); err != nil {
			must(t, os.MkdirAll(filepath.Dir(file), 0o700))
			must(t, os.WriteFile(file, []byte(`{"security": {"auth": {"selectedType": "gemini-api-key"}}}`), 0o600))
		}
	}
	return []string{"HOME=" + p.home, "PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH")}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// drive has an agent make calls, all of them permitted by its own settings, and returns the results.
func (p place) drive(t *testing.T, a agent, s live.Script, env []string) []string {
	t.Helper()
	results, offered := p.driven(t, a, s, env)
	p.known(t, a, offered)
	return results
}

// driven has an agent make calls, and returns the results and the tools that it offers to its model.
func (p place) driven(
	t *testing.T, a agent, s live.Script, env []string,
) (results, offered []string) {
	t.Helper()
	m, err := live.Serve(s)
	must(t, err)
	defer m.Close()
	h, err := live.Named(a.name)
	must(t, err)
	line, err := h.Line(m.URL, t.TempDir(), true)
	must(t, err)
	words := slices.DeleteFunc(line.Argv[1:], func(w string) bool { return w == "--strict-mcp-config" })
	if a.name == "codex" { // its prompt is the last word
		words = slices.Insert(words, len(words)-1, a.more...)
	}
	argv := slices.Concat(a.program, words)
	ctx, cancel := context.WithTimeout(t.Context(), await.Guard)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = p.workspace, line.Over(env)
	out, err := cmd.CombinedOutput()
	results = append(m.Results(false), m.Results(true)...)
	if err != nil || len(results) == 0 {
		t.Fatalf("%s: %v: results %q\n%s", a.name, err, results, out)
	}
	return results, m.Tools()
}

// unknown are the tools that agents offer and that hooks get by another name, not at all, or refuse.
var unknown = map[string][]string{
	"codex":       {"exec_command", "write_stdin"}, // Bash, and no hook
	"claude-code": {"Workflow"},                    // it runs scripts
	"copilot":     {"bash", "view", "create", "edit", "grep", "glob", "task", "rg", "apply_patch"},
}

// known holds that the hook knows the tools that an agent offers. It refuses all others.
func (p place) known(t *testing.T, a agent, offered []string) {
	t.Helper()
	h, err := hooks.Named(a.name)
	must(t, err)
	for _, name := range offered {
		if strings.HasPrefix(name, "mcp_") { // judged by its arguments
			continue
		}
		if _, ok := h.Tools[name]; !ok && !slices.Contains(unknown[a.name], name) {
			t.Errorf("%s has a tool %s, which hosts.yaml does not have", a.name, name)
		}
	}
}

// made lists the files of the workspace.
func (p place) made(t *testing.T) string {
	t.Helper()
	var out []string
	files, err := os.ReadDir(p.workspace)
	must(t, err)
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), ".") {
			out = append(out, f.Name())
		}
	}
	return strings.Join(out, " ")
}

// armed is a place with the hook of an agent.
type armed struct {
	place
	agent agent
	own   string // the program that the hook starts
}

func arm(t *testing.T, a agent, mode string) (armed, []string) {
	t.Helper()
	p := armed{newPlace(t), a, filepath.Join(t.TempDir(), "sallyport")}
	env := p.environ(t, a)
	for _, file := range []string{program, whole, supervisor} {
		must(t, os.Link(file, filepath.Join(filepath.Dir(p.own), filepath.Base(file))))
	}
	if mode != "" {
		p.sallyport(t, "agents", "install", a.name, "--mode", mode, "--yes")
		p.sallyport(t, "agents", "check")
	}
	return p, env
}

func (p armed) sallyport(t *testing.T, args ...string) string {
	t.Helper()
	return p.mustRun(t, "", append([]string{p.own}, args...)...)
}

// stands puts a script in the place of the hook's program, which the script finds at $real.
func stands(script string) func(*testing.T, armed) {
	return func(t *testing.T, p armed) {
		t.Helper()
		must(t, os.Remove(p.own))
		text := fmt.Sprintf("#!/bin/sh\nreal='%s'\n%s\n", program, script)
		must(t, os.WriteFile(p.own, []byte(text), 0o700))
	}
}

// state is a file or directory of the state of Sallyport.
func (p armed) state(name string) string {
	return filepath.Join(p.home, ".local", "state", "sallyport", name)
}

// resident waits for the resident process, which the first hook has started, and returns it and its socket.
func (p armed) resident(t *testing.T) (pid int, socket string) {
	t.Helper()
	await.True(t, "the resident process answers", func() bool {
		_, err := fmt.Sscanf(p.run(t, "", p.own, "serve", "--status").stdout, "process %d,", &pid)
		return err == nil
	})
	found, err := filepath.Glob(p.state("resident/*.sock"))
	if err != nil || len(found) != 1 {
		t.Fatalf("sockets: %q, %v", found, err)
	}
	return pid, found[0]
}

// held takes the lock of the audit log, so that a hook waits for it.
func (p armed) held(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Open(p.state("audit/lock"))
	must(t, err)
	must(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// answering sends a signal to the resident process in the middle of an answer.
func answering(signal syscall.Signal) func(*testing.T, armed) {
	return func(t *testing.T, p armed) {
		t.Helper()
		pid, _ := p.resident(t)
		lock := p.held(t)
		done := make(chan struct{})
		t.Cleanup(func() { await.Receive(t, "signal", done) })
		go func() {
			defer close(done)
			defer func() { _ = lock.Close() }()
			waits := regexp.MustCompile(fmt.Sprintf(`-> FLOCK +ADVISORY +WRITE +%d `, pid))
			if !await.Holds(func() bool {
				locks, _ := os.ReadFile("/proc/locks")
				return waits.Match(locks)
			}) {
				t.Error("the resident process never waited for the log")
			}
			must(t, syscall.Kill(pid, signal))
		}()
	}
}

// impostor answers at the socket of the resident process, as that would allow a call.
func impostor(t *testing.T, p armed) {
	t.Helper()
	pid, socket := p.resident(t)
	real, err := usersocket.Dial(await.Context(t), filepath.Dir(socket), filepath.Base(socket))
	must(t, err)
	greeting := make([]byte, 64<<10)
	n, err := real.Read(greeting)
	must(t, err)
	must(t, real.Close())
	must(t, syscall.Kill(pid, syscall.SIGKILL))
	must(t, os.Remove(socket))
	l, release, err := usersocket.Listen(filepath.Dir(socket), filepath.Base(socket))
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()); release() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write(greeting[:n])
			for range 2 { // the answers before and after the event
				_, _ = io.WriteString(c, "\x00\x00\x00\x22"+`{"status":0,"out":"e30K","err":""}`)
			}
		}
	}()
}

// faults are the ways in which a hook fails.
func faults() map[string]func(*testing.T, armed) {
	return map[string]func(*testing.T, armed){
		"missing":              func(t *testing.T, p armed) { must(t, os.Remove(p.own)) },
		"killed":               stands("kill -9 $$"),
		"crashes":              stands("kill -SEGV $$"),
		"stray output":         stands(`echo loading; exec "$real" "$@"`),
		"garbage":              stands("echo loading"),
		"says nothing":         stands("exit 0"),
		"event is cut":         stands(`head -c 100 | "$real" "$@"`),
		"broken configuration": func(t *testing.T, p armed) { p.configure(t, "colour: red\n") },
		"own time limit": func(t *testing.T, p armed) {
			p.configure(t, "hooks: {timeout: 1s}\n")
			p.held(t)
		},
		"resident killed in an answer":  answering(syscall.SIGKILL),
		"resident stopped in an answer": answering(syscall.SIGSTOP),
		"resident killed": func(t *testing.T, p armed) { // its socket stays, and nobody listens
			pid, _ := p.resident(t)
			must(t, syscall.Kill(pid, syscall.SIGKILL))
		},
		"resident stopped": func(t *testing.T, p armed) {
			pid, _ := p.resident(t)
			must(t, syscall.Kill(pid, syscall.SIGSTOP))
		},
		"socket gone": func(t *testing.T, p armed) {
			_, socket := p.resident(t)
			must(t, os.Remove(socket))
		},
		"socket is a directory": func(t *testing.T, p armed) {
			_, socket := p.resident(t)
			must(t, os.Remove(socket))
			must(t, os.Mkdir(socket, 0o700))
		},
		"socket of another program": impostor,
		"full disk": func(t *testing.T, p armed) {
			leftout.NeedRoot(t)
			must(t, os.RemoveAll(p.state("audit")))
			must(t, os.Mkdir(p.state("audit"), 0o700))
			must(t, exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "none", p.state("audit")).Run())
			t.Cleanup(func() { must(t, exec.Command("umount", p.state("audit")).Run()) })
			f, err := os.Create(filepath.Join(p.state("audit"), "full"))
			must(t, err)
			for err == nil {
				_, err = f.Write(make([]byte, 1<<10))
			}
			must(t, f.Close())
		},
		"host's time limit": func(t *testing.T, p armed) {
			stands("exec sleep 20")(t, p)
			file := filepath.Join(p.home, p.agent.hooks)
			text, err := os.ReadFile(file)
			must(t, err)
			short := strings.ReplaceAll(string(text), p.agent.limit[0], p.agent.limit[1])
			if short == string(text) {
				t.Fatalf("no time limit %s in %s", p.agent.limit[0], text)
			}
			must(t, os.WriteFile(file, []byte(short), 0o600))
		},
	}
}

// ofPlugin are the faults that the plugin for opencode meets and that exit codes of the hook do not tell.
var ofPlugin = []string{"missing", "killed", "stray output", "says nothing", "full disk", "host's time limit"}

// judged are the faults after which a hook judges by itself.
var judged = []string{
	"resident killed", "resident stopped", "socket gone", "socket is a directory", "socket of another program",
}

// runsAnyway are the faults after which a host runs the call. docs/agents.md names them.
var runsAnyway = map[string][]string{
	"codex": {"host's time limit"}, "gemini": {"host's time limit"}, "copilot": {"host's time limit"},
}

// TestAgents holds that real agents obey the installed hook: an allowed command runs, a denied one and a
// question that nobody answers do not, and the model reads the reason. Without the hook all of them run.
func TestAgents(t *testing.T) {
	t.Parallel()
	for _, a := range hooked(t) {
		for mode, want := range map[string]string{"": "allowed asked denied", "judge": "allowed",
			"run": "allowed"} {
			if mode == "run" && a.name != "claude-code" { // the others only judge
				continue
			}
			t.Run(a.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				p, env := arm(t, a, mode)
				calls := []live.Call{
					a.shell("touch allowed"), a.shell("(sudo -n true || true); touch denied"),
					a.shell("(git branch -D x || true); touch asked"),
				}
				results := p.drive(t, a, live.Script{Main: calls}, env)
				if got := p.made(t); got != want {
					t.Errorf("ran: %q, want %q", got, want)
				}
				if mode == "" {
					return
				}
				if len(results) != len(calls) || !strings.Contains(results[1], "dangerous/privilege") {
					t.Errorf("the model does not read the reason: %q", results)
				}
				asks := a.name == "claude-code" || a.name == "copilot" // and refuse, since nobody is there
				if !asks && !strings.Contains(results[2], "git/delete_ref to warn under rules") {
					t.Errorf("the model does not read the way forward: %q", results)
				}
				if said := p.sallyport(t, "audit", "verify"); !strings.Contains(said, "verdict      ok") {
					t.Errorf("the audit log does not verify: %s", said)
				}
			})
		}
	}
}

// TestAgentsFaults holds that nothing runs after a fault of the hook, but where docs/agents.md says so, and
// that a hook without its resident process judges by itself. TestAgents shows that both commands run without
// the hook.
func TestAgentsFaults(t *testing.T) {
	t.Parallel()
	for _, a := range hooked(t) {
		for name, happens := range faults() {
			// These lie behind the hook. All hosts start the same one.
			if a.name != "claude-code" && (name == "resident stopped in an answer" || slices.Contains(judged, name)) {
				continue
			}
			if a.name == "opencode" && !slices.Contains(ofPlugin, name) { // it starts slowly
				continue
			}
			t.Run(a.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				p, env := arm(t, a, "judge")
				p.resident(t)
				happens(t, p)
				first, want, said := "(sudo -n true || true); touch denied", "", "sallyport"
				switch {
				case slices.Contains(runsAnyway[a.name], name): // each call takes 20 s
					first, want, said = "", "allowed", ""
				case slices.Contains(judged, name):
					want, said = "allowed", "dangerous/privilege"
				case name == "resident killed in an answer": // the second call has another process
					first, want, said = "touch denied", "allowed", "ended before it answered"
					if a.name == "copilot" { // which shows no standard error
						said = "sallyport did not answer"
					}
				case name == "resident stopped in an answer":
					first, said = "touch denied", "ended before it answered"
				case a.name == "claude-code":
					said = ""
				}
				calls := []live.Call{a.shell(first), a.shell("touch allowed")}
				switch {
				case first == "":
					calls = calls[1:]
				case name == "resident stopped in an answer": // it may or may not keep the log from the second
					calls = calls[:1]
				}
				results := p.drive(t, a, live.Script{Main: calls}, env)
				if got := p.made(t); got != want {
					t.Errorf("ran: %q, want %q; results %q", got, want, results)
				}
				if !strings.Contains(results[0], said) {
					t.Errorf("the model does not read %q: %q", said, results)
				}
			})
		}
	}
}

// TestAgentsLive holds that agents check --live tries the doors of the real agents, and finds them open where
// an agent does not call its hook. agents list tells another release.
func TestAgentsLive(t *testing.T) {
	t.Parallel()
	for _, a := range hooked(t) {
		for what, setting := range map[string]string{
			"refused": "", "open": `{"disableAllHooks": true, `,
		} {
			if what == "open" && a.name != "claude-code" && a.name != "codex" { // the others are slower
				continue
			}
			t.Run(a.name+"/"+what, func(t *testing.T) {
				t.Parallel()
				p, env := arm(t, a, "judge")
				if file := filepath.Join(p.home, a.hooks); a.name == "claude-code" && setting != "" {
					text, err := os.ReadFile(file)
					must(t, err)
					must(t, os.WriteFile(file, []byte(strings.Replace(string(text), "{", setting, 1)), 0o600))
				}
				more := strings.Join(a.more, " ")
				if what == "open" { // Codex runs trusted hooks alone
					more = ""
				}
				host, err := hooks.Named(a.name)
				must(t, err)
				file := filepath.Join(t.TempDir(), host.Program)
				must(t, os.WriteFile(file, []byte(fmt.Sprintf(
					"#!/bin/sh\nif [ \"$1\" = exec ]; then shift; set -- exec %s \"$@\"; fi\nexec %s \"$@\"\n",
					more, strings.Join(a.program, " "))), 0o700))
				p.env = append(env, "PATH="+filepath.Dir(file)+":"+os.Getenv("PATH"))
				r := p.run(t, "", p.own, "agents", "check", "--live", a.name)
				want := []string{a.name + ": the hook refuses, as it must"}
				tried, err := live.Named(a.name)
				must(t, err)
				for _, door := range tried.Doors {
					want = append(want, fmt.Sprintf("%s %s: %s: %s", a.name, host.Version, door.Name, what))
				}
				got := strings.ReplaceAll(r.stdout, ": the host ran it without a refusal of the hook", "")
				if diff := cmp.Diff(strings.Join(want, "\n")+"\n", got); diff != "" {
					t.Errorf("(-want +got):\n%s%s", diff, r.stderr)
				}
				if (r.code == 0) != (what == "refused") {
					t.Errorf("exit %d: %s", r.code, r.stderr)
				}
				if made := p.made(t); made != "" {
					t.Errorf("it left %s", made)
				}
				must(t, os.WriteFile(file, []byte("#!/bin/sh\necho 99.0.1\n"), 0o700))
				if said := p.sallyport(t, "agents", "list"); !strings.Contains(said, "now 99.0.1: check again") {
					t.Errorf("another release is not told: %s", said)
				}
			})
		}
	}
}
