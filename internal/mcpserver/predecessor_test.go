package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// The cases of these tests are those of the predecessor's own tests, driven through the tools that have kept
// its names. Where we differ on purpose, the case says why.

// TestPredecessorBasics. The predecessor's cases run python; what they show does not need it.
func TestPredecessorBasics(t *testing.T) {
	t.Parallel()
	world := newWorld(t, "", nil)
	world.write(t, "test.txt", "")
	world.write(t, "script.sh", "echo from script\n")
	world.write(t, "sub/test.txt", "inner")
	w := connect(t, world.Server)
	for name, c := range map[string]struct {
		args           map[string]any
		code           float64
		stdout, stderr string
		failed         bool // an error result
	}{
		"prints":                      {map[string]any{"command": "echo 'Hello, World!'"}, 0, "Hello, World!\n", "", false},
		"script file":                 {map[string]any{"command": "bash script.sh"}, 0, "from script\n", "", false},
		"exit 1":                      {map[string]any{"command": "exit 1"}, 1, "", "", false},
		"lists the directory":         {map[string]any{"command": "ls"}, 0, "script.sh\nsub\ntest.txt\n", "", false},
		"work_dir":                    {map[string]any{"command": "cat test.txt", "work_dir": "sub"}, 0, "inner", "", false},
		"absolute work_dir":           {map[string]any{"command": "cat test.txt", "work_dir": world.dir + "/sub"}, 0, "inner", "", false},
		"relative path":               {map[string]any{"command": "cat sub/test.txt"}, 0, "inner", "", false},
		"work_dir is missing":         {map[string]any{"command": "ls", "work_dir": "none"}, -1, "", "Path validation error: the working directory does not exist", true},
		"work_dir is a file":          {map[string]any{"command": "ls", "work_dir": "test.txt"}, -1, "", "Path validation error: the working directory is not a directory", true},
		"work_dir is outside":         {map[string]any{"command": "ls", "work_dir": "/usr"}, -1, "", "Path validation error: /usr lies outside", true},
		"both lines":                  {map[string]any{"command": "echo one; echo two"}, 0, "one\ntwo\n", "", false},
		"stderr":                      {map[string]any{"command": "echo bad >&2"}, 0, "", "bad\n", false},
		"1000 lines":                  {map[string]any{"command": "seq 1000"}, 0, "1\n2\n3\n", "", false},
		"timeout is null":             {map[string]any{"command": "echo x", "timeout": nil, "work_dir": nil}, 0, "x\n", "", false},
		"bash and not sh":             {map[string]any{"command": "echo {1..3}"}, 0, "1 2 3\n", "", false}, // dash answered {1..3}
		"no input to swallow":         {map[string]any{"command": "cat"}, 0, "", "", false},                // stdin was the protocol's own
		"invalid UTF-8 loses nothing": {map[string]any{"command": `printf 'a\xffb'`}, 0, "a\ufffdb", "", false},
	} {
		r := w.call(t, "execute_command", c.args)
		if r.num("exit_code") != c.code || r.IsError != c.failed || r.is("success") != (c.code == 0) {
			t.Errorf("%s: exit %v, error %v, success %v: %s", name, r.num("exit_code"), r.IsError, r.is("success"), r.Text)
		}
		if !strings.HasPrefix(r.str("stdout"), c.stdout) || c.stdout == "" && r.str("stdout") != "" {
			t.Errorf("%s: stdout %q, want %q", name, r.str("stdout"), c.stdout)
		}
		if !strings.HasPrefix(r.str("stderr"), c.stderr) || c.stderr == "" && r.str("stderr") != "" {
			t.Errorf("%s: stderr %q, want %q", name, r.str("stderr"), c.stderr)
		}
		for _, part := range []string{r.str("stdout"), r.str("stderr")} {
			if !strings.Contains(r.Text, strings.TrimSuffix(part, "\n")) {
				t.Errorf("%s: the text lacks %q", name, part)
			}
		}
	}
	if r := w.call(t, "execute_command", map[string]any{"command": "seq 1000"}); strings.Count(r.str("stdout"), "\n") != 1000 {
		t.Errorf("%d of 1000 lines", strings.Count(r.str("stdout"), "\n"))
	}
}

// TestPredecessorTimeout: what was written until then is kept, which the predecessor threw away.
func TestPredecessorTimeout(t *testing.T) {
	t.Parallel()
	w := connect(t, plain(t, func(_ context.Context, r engine.Request) (engine.Outcome, error) {
		out := allowed(r)
		out.Input = &facts.Input{Request: facts.Request{TimeoutSeconds: r.Timeout.Seconds()}}
		out.Exit = engine.Exit{
			Code: 143, Signal: "SIGTERM", TimedOut: true, Duration: r.Timeout, Stdout: engine.Stream{Text: "begun\n"},
		}
		return out, nil
	}, nil))
	r := w.call(t, "execute_command", map[string]any{"command": "echo begun; sleep 1000", "timeout": 5.5})
	if !r.IsError || r.is("success") || !r.is("timed_out") || r.num("exit_code") != -1 || r.num("execution_time") != 5.5 {
		t.Errorf("got %s", r.Text)
	}
	if r.str("stdout") != "begun\n" || !strings.Contains(r.str("stderr"), "Command timed out after 5.5 seconds") {
		t.Errorf("stdout %q, stderr %q", r.str("stdout"), r.str("stderr"))
	}
}

// TestTimeoutsHaveABound: what a call asks for beyond the operator's maximum is not granted.
func TestTimeoutsHaveABound(t *testing.T) {
	t.Parallel()
	w := connect(t, newWorld(t, "timeout: 100ms\nlimits: {max_timeout: 300ms}\n", nil).Server)
	for timeout, want := range map[any]string{1e9: "after 0.3 seconds", 0.2: "after 0.2 seconds", nil: "after 0.1 seconds"} {
		r := w.call(t, "execute_command", map[string]any{"command": "sleep 1000", "timeout": timeout})
		if !r.is("timed_out") || !strings.Contains(r.str("stderr"), want) {
			t.Errorf("%v: %s", timeout, r.Text)
		}
	}
}

// judgeOnly runs nothing: what a gate would run counts as run. Texts that destroy are tried with it.
type judgeOnly struct{ Gate }

func (g judgeOnly) Do(ctx context.Context, r engine.Request) (engine.Outcome, error) {
	out, err := g.Check(ctx, r)
	out.Ran = out.Decision.Effect == engine.Allow
	return out, err
}

func judging(o *Options) { o.Gate = judgeOnly{o.Gate} }

// TestPredecessorSanitizer under the profile that keeps its nine refusals. Its cases with sudo switched on
// need a runner that confines what is elevated, which the policies' own tests stand in for.
func TestPredecessorSanitizer(t *testing.T) {
	t.Parallel()
	w := connect(t, newWorld(t, "profile: massgen\n", judging).Server)
	for _, command := range []string{
		"rm -rf /", "dd if=/dev/zero of=/dev/sda", ":(){ :|:& };:", "mv file /dev/null", "sudo apt install something", "su root",
		"chown root file.txt", "chmod 777 file.txt",
		"sudo apt-get update", "sudo apt-get install -y ffmpeg", "sudo pip install requests", "sudo npm install -g x", "sudo chmod 755 f",
		"echo 'test' && sudo apt update",
		"su - postgres", "su -c 'whoami' root", "chmod +x script.sh", "chown user:group file", "echo test > /dev/sda1",
	} {
		r := w.call(t, "execute_command", map[string]any{"command": command})
		if !r.IsError || r.is("ran") || r.str("effect") != "deny" || len(r.rules()) == 0 {
			t.Errorf("%s: not refused: %s", command, r.Text)
		}
		if !strings.HasPrefix(r.str("stderr"), "Potentially dangerous command detected: ") {
			t.Errorf("%s: %s", command, r.str("stderr"))
		}
		if strings.HasPrefix(command, "sudo") && !strings.Contains(r.str("stderr"), "sudo") {
			t.Errorf("%s: the refusal does not speak of sudo: %s", command, r.str("stderr"))
		}
	}
	for _, command := range []string{
		"python script.py", "pytest tests/", "npm run build", "ls -la", "rm file.txt", "git submodule update", "echo 'summary'",
		"python -m pip install --user requests",
	} {
		if r := w.call(t, "execute_command", map[string]any{"command": command}); r.IsError {
			t.Errorf("%s: refused: %s", command, r.Text)
		}
	}
}

// TestPredecessorSanitizerUnderTheStandardProfile: what is dangerous stays refused, and what merely looks
// like it is not: the predecessor refused every chmod and every mention of dd.
func TestPredecessorSanitizerUnderTheStandardProfile(t *testing.T) {
	t.Parallel()
	world := newWorld(t, "", judging)
	world.write(t, "script.sh", "echo x\n")
	w := connect(t, world.Server)
	for _, command := range []string{
		"rm -rf /", "rm -fr /", "dd if=/dev/zero of=/dev/sda", ":(){ :|:& };:", ":() { :|:& };:", "sudo apt install something", "su root",
		"sudo rm -rf /", "echo test > /dev/sda1", "r\\m -rf /", "X=rm; $X -rf /",
	} {
		if r := w.call(t, "execute_command", map[string]any{"command": command}); !r.IsError || r.is("ran") {
			t.Errorf("%s: not refused", command)
		}
	}
	for _, command := range []string{
		"ls -la", "chmod +x script.sh", "grep -n sudo script.sh", "date +%Y-%m-%d-dd", "echo 'never run rm -rf / here'", "git checkout -b su-fix",
	} {
		if r := w.call(t, "execute_command", map[string]any{"command": command}); r.IsError {
			t.Errorf("%s: refused: %s", command, r.Text)
		}
	}
}

// TestPredecessorLists: the operator's patterns work, and are never told to the agent.
func TestPredecessorLists(t *testing.T) {
	t.Parallel()
	for text, c := range map[string]struct{ refused, allowed, words string }{
		`commands: {allow: ["echo secret-word.*", "ls"]}`: {"cat x", "echo secret-word 1", "Command not in allowed list"},
		`commands: {deny: ["echo secret-word"]}`:          {"cd . && echo  secret-word", "echo other", "Command matches blocked pattern"},
	} {
		w := connect(t, newWorld(t, text+"\n", nil).Server)
		r := w.call(t, "execute_command", map[string]any{"command": c.refused})
		if !r.IsError || !strings.HasPrefix(r.str("stderr"), c.words) {
			t.Errorf("%s: %s", text, r.Text)
		}
		delete(r.Fields, "command")
		if said := fmt.Sprint(r.Text, r.Fields); strings.Contains(said, "secret-word.*") || strings.Contains(said, "echo secret-word") {
			t.Errorf("%s: the pattern is told: %s", text, said)
		}
		if r := w.call(t, "execute_command", map[string]any{"command": c.allowed}); r.IsError {
			t.Errorf("%s: refused: %s", text, r.Text)
		}
	}
}

// TestPredecessorGeneratedFiles: caches may be deleted unread, sources may not. The predecessor's delete_file
// refused the caches, against its own rule.
func TestPredecessorGeneratedFiles(t *testing.T) {
	t.Parallel()
	world := newWorld(t, "", nil)
	for _, name := range []string{"__pycache__/a.txt", "b.pyc", ".pytest_cache/v/deep/x", "module.py", "only/__pycache__/m.pyc"} {
		world.write(t, name, "x")
	}
	w := connect(t, world.Server)
	for _, path := range []string{"__pycache__/a.txt", "b.pyc", ".pytest_cache/v/deep/x"} {
		if r := w.call(t, "delete_file", map[string]any{"path": path}); r.IsError || world.has(path) {
			t.Errorf("%s: %s", path, r.Text)
		}
	}
	if r := w.call(t, "delete_file", map[string]any{"path": "only", "recursive": true}); r.IsError || world.has("only") {
		t.Errorf("a directory of caches: %s", r.Text)
	}
	r := w.call(t, "delete_file", map[string]any{"path": "module.py"})
	if !r.IsError || !world.has("module.py") || !strings.Contains(r.str("error"), "read") {
		t.Errorf("a source that was not read: %s", r.Text)
	}
	w.call(t, "read_file", map[string]any{"path": "module.py"})
	if r := w.call(t, "delete_file", map[string]any{"path": "module.py"}); r.IsError || world.has("module.py") {
		t.Errorf("a source that was read: %s", r.Text)
	}
}

// TestPredecessorVenv: a virtual environment of the workspace is used, in the background too.
func TestPredecessorVenv(t *testing.T) {
	t.Parallel()
	show := map[string]any{"command": `echo "${VIRTUAL_ENV-none}"; echo "$PATH"`}
	without := connect(t, newWorld(t, "", nil).Server).call(t, "execute_command", show)
	if !strings.HasPrefix(without.str("stdout"), "none\n") || strings.Contains(without.str("stdout"), ".venv") {
		t.Errorf("without: %q", without.str("stdout"))
	}
	world := newWorld(t, "", nil)
	world.write(t, ".venv/bin/python", "")
	world.write(t, ".venv/pyvenv.cfg", "")
	venv := world.dir + "/.venv"
	if with := connect(t, world.Server).call(t, "execute_command", show); !strings.HasPrefix(with.str("stdout"), venv+"\n"+venv+"/bin:") {
		t.Errorf("with: %q", with.str("stdout"))
	}
}

// TestTheChildSeesNoKeys: hosts start servers with everything they have.
func TestTheChildSeesNoKeys(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-from-the-host")
	w := connect(t, newWorld(t, "", nil).Server)
	r := w.call(t, "execute_command", map[string]any{"command": "env"})
	if r.IsError || strings.Contains(r.str("stdout"), "sk-from-the-host") || !strings.Contains(r.str("stdout"), "PATH=") {
		t.Errorf("got %s", r.Text)
	}
}
