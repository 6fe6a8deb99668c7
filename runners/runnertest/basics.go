package runnertest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// status checks that exit codes and signals are told as they are. Its 256 commands in a row also
// show that an environment does not wear out.
func (s *suite) status(t *testing.T) {
	p := s.place(t)
	t.Run("exit codes", func(t *testing.T) {
		for code := range 256 {
			if x := p.run(t, fmt.Sprintf("exit %d", code)); x.Code != code || x.Signal != "" {
				t.Errorf("exit %d: got code %d, signal %q", code, x.Code, x.Signal)
			}
		}
	})
	t.Run("signals", func(t *testing.T) {
		for n, name := range map[int]string{
			6: "SIGABRT", 9: "SIGKILL", 11: "SIGSEGV", 14: "SIGALRM", 15: "SIGTERM",
		} {
			if x := p.run(t, fmt.Sprintf("ulimit -c 0; kill -%d $$", n)); x.Code != 128+n || x.Signal != name {
				t.Errorf("signal %d: got code %d, signal %q, want %d, %s", n, x.Code, x.Signal, 128+n, name)
			}
		}
	})
	t.Run("a code above 128 is no signal", func(t *testing.T) {
		if x := p.run(t, "exit 137"); x.Code != 137 || x.Signal != "" {
			t.Errorf("got code %d, signal %q", x.Code, x.Signal)
		}
	})
	t.Run("not found", func(t *testing.T) {
		x := p.run(t, "no-such-program-"+nonce())
		if x.Code != 127 || !strings.Contains(x.Stderr.Text, "not found") {
			t.Errorf("got code %d, stderr %q", x.Code, x.Stderr.Text)
		}
	})
	t.Run("use of time", func(t *testing.T) {
		x := p.run(t, "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done")
		if x.Duration <= 0 || x.UserTime+x.SystemTime <= 0 || x.Started.IsZero() {
			t.Errorf("duration %v, user %v, system %v, started %v", x.Duration, x.UserTime, x.SystemTime, x.Started)
		}
	})
	t.Run("use of memory", func(t *testing.T) {
		p.needs(t, "head", "tail")
		// tail keeps the whole of a line that has no end.
		x := p.run(t, "head -c 300000000 /dev/zero | tail -n 1 | wc -c")
		if want := int64(250 << 20); x.MaxRSS < want {
			t.Errorf("max rss %d bytes, want more than %d", x.MaxRSS, want)
		}
	})
}

// streams checks that output arrives apart, whole and in order, also while the command runs.
func (s *suite) streams(t *testing.T) {
	p := s.place(t)
	t.Run("apart", func(t *testing.T) {
		x := p.run(t, "echo out; echo err >&2; echo out2")
		if x.Stdout.Text != "out\nout2\n" || x.Stderr.Text != "err\n" {
			t.Errorf("stdout %q, stderr %q", x.Stdout.Text, x.Stderr.Text)
		}
	})
	t.Run("nothing", func(t *testing.T) {
		if x := p.run(t, ":"); x.Stdout.Text != "" || x.Stdout.Bytes != 0 || x.Stdout.SHA256 != digest("") {
			t.Errorf("stdout %+v", x.Stdout)
		}
	})
	t.Run("in order", func(t *testing.T) {
		var want strings.Builder
		for i := range 2000 {
			fmt.Fprintf(&want, "line %d\n", i)
		}
		x := p.run(t, `i=0; while [ $i -lt 2000 ]; do echo "line $i"; i=$((i+1)); done`)
		if x.Stdout.Text != want.String() {
			t.Errorf("got %d bytes in another order, want %d", len(x.Stdout.Text), want.Len())
		}
	})
	t.Run("as it comes", func(t *testing.T) {
		var out, err lockedBuffer
		c := p.command(t, "echo one; echo two >&2; read -r x </dev/null; sleep 20")
		c.Stdout, c.Stderr = &out, &err
		proc := p.start(t, c)
		await(t, func() bool {
			o, e := proc.Output()
			return out.String() == "one\n" && err.String() == "two\n" && o.Text == "one\n" && e.Text == "two\n"
		})
		proc.Kill("seen enough")
		if x := proc.Wait(); x.Stdout.Text != "one\n" || x.Killed != "seen enough" {
			t.Errorf("%+v", x)
		}
	})
	t.Run("a writer that fails", func(t *testing.T) {
		c := p.command(t, "echo one; sleep 0.1; echo two")
		c.Stdout = failing{}
		if x := p.end(t, c); x.Stdout.Text != "one\ntwo\n" {
			t.Errorf("stdout %q", x.Stdout.Text)
		}
	})
}

// surroundings checks what a command finds around it.
func (s *suite) surroundings(t *testing.T) {
	p := s.place(t)
	t.Run("environment", func(t *testing.T) {
		c := p.command(t, "env")
		x := p.end(t, c)
		if strings.Contains(x.Stdout.Text, planted) || strings.Contains(x.Stdout.Text, "sk-do-not-leak") {
			t.Errorf("a variable of this process reached the command")
		}
		lines := strings.Split(x.Stdout.Text, "\n")
		if !slices.Contains(lines, "SALLYPORT_COMMAND="+c.ID) {
			t.Errorf("no marker in %q", lines)
		}
		for _, kv := range lines {
			name, _, _ := strings.Cut(kv, "=")
			given := func(e string) bool { return strings.HasPrefix(e, name+"=") }
			switch name {
			case "", "_", "SHLVL", "PWD", "OLDPWD", "SALLYPORT_COMMAND": // of the shell, and ours
			default:
				if !slices.ContainsFunc(c.Env, given) {
					t.Errorf("variable %s was not given", name)
				}
			}
		}
	})
	t.Run("a given variable arrives", func(t *testing.T) {
		c := p.command(t, `printf %s "$GIVEN"`)
		c.Env = append(c.Env, "GIVEN=a b\nc=d ü", "SALLYPORT_COMMAND=forged")
		if x := p.end(t, c); x.Stdout.Text != "a b\nc=d ü" {
			t.Errorf("got %q", x.Stdout.Text)
		}
	})
	t.Run("large environment", func(t *testing.T) {
		c := p.command(t, `printf %s "$V999"`)
		for i := range 1000 {
			c.Env = append(c.Env, fmt.Sprintf("V%d=%0100d", i, i))
		}
		if x := p.end(t, c); x.Stdout.Text != fmt.Sprintf("%0100d", 999) {
			t.Errorf("got %q", x.Stdout.Text)
		}
	})
	t.Run("standard input is empty", func(t *testing.T) {
		if x := p.run(t, "cat; read -r line; echo $?"); x.Stdout.Text != "1\n" {
			t.Errorf("got %q", x.Stdout.Text)
		}
	})
	t.Run("no terminal, own session", func(t *testing.T) {
		if x := p.run(t, "(exec 3</dev/tty) 2>/dev/null"); x.Code == 0 {
			t.Errorf("the command can open a terminal")
		}
		p.needsProc(t)
		if x := p.run(t, "read -r _ _ _ _ group session _ </proc/$$/stat; echo $((group == $$ && session == $$))"); x.Stdout.Text != "1\n" {
			t.Errorf("the shell leads neither its session nor its group: %q", x.Stdout.Text)
		}
	})
	t.Run("no open files", func(t *testing.T) {
		p.needsProc(t)
		// 3 is the directory that ls itself reads.
		if x := p.run(t, "ls /proc/self/fd"); x.Stdout.Text != "0\n1\n2\n3\n" {
			t.Errorf("descriptors %q", x.Stdout.Text)
		}
	})
	t.Run("working directory", func(t *testing.T) { s.workDir(t, p) })
}

func (s *suite) workDir(t *testing.T, p *place) {
	base := strings.TrimSpace(p.run(t, "mktemp -d").Stdout.Text)
	if base == "" {
		t.Fatal("no temporary directory in the environment")
	}
	defer p.run(t, "rm -r -- '"+base+"'")
	for _, name := range []string{"plain", "with blank", "ümläut 目录", "-dash", "new\nline", "quo'te"} {
		dir := base + "/" + name
		mk := p.command(t, `mkdir -- "$DIR"`)
		mk.Env = append(mk.Env, "DIR="+dir)
		p.end(t, mk)
		c, err := p.env.Prepare(`printf '%s|' "$PWD"; pwd -P`, dir)
		if err != nil {
			t.Fatalf("prepare in %q: %v", dir, err)
		}
		basis := p.command(t, ":")
		c.ID, c.Timeout, c.Output = basis.ID, basis.Timeout, basis.Output
		x := p.end(t, c)
		if want := dir + "|"; !strings.HasPrefix(x.Stdout.Text, want) || !strings.HasSuffix(x.Stdout.Text, "/"+name+"\n") {
			t.Errorf("in %q: got %q", dir, x.Stdout.Text)
		}
	}
}

// texts checks that the dialect is the one that is judged.
func (s *suite) texts(t *testing.T) {
	p := s.place(t)
	t.Run("bash", func(t *testing.T) {
		p.needsBash(t)
		for text, want := range map[string]string{
			"echo {1..10}": "1 2 3 4 5 6 7 8 9 10\n",
			"[[ abc == a* && 3 -lt 20 ]] && echo yes": "yes\n",
			"set -o pipefail; false | true; echo $?":  "1\n",
			"a=(x y z); echo ${#a[@]} ${a[2]}":        "3 z\n",
			"cat <(echo sub)":                         "sub\n",
			"read -r x <<<here; echo $x":              "here\n",
			"echo $((2**40))":                         "1099511627776\n",
			"declare -A m=([k]=v); echo ${m[k]}":      "v\n",
			`printf '%s\n' $'\x41\u00fc'`:             "Aü\n",
		} {
			c := p.command(t, text)
			c.Env = append(c.Env, "LC_ALL=C.UTF-8")
			if x := p.end(t, c); x.Stdout.Text != want {
				t.Errorf("%s: got %q, stderr %q, want %q", text, x.Stdout.Text, x.Stderr.Text, want)
			}
		}
	})
	t.Run("as given", func(t *testing.T) {
		for text, want := range map[string]string{
			"echo 'a  b'  \"c $((1+1))\"":      "a  b c 2\n",
			"echo one\necho two # comment\n":   "one\ntwo\n",
			"echo 目录 — ünïcödé 🚪":              "目录 — ünïcödé 🚪\n",
			"printf '%s\\n' '-n' '--' '$HOME'": "-n\n--\n$HOME\n",
		} {
			if x := p.run(t, text); x.Stdout.Text != want {
				t.Errorf("%q: got %q, want %q", text, x.Stdout.Text, want)
			}
		}
	})
	t.Run("64 KiB", func(t *testing.T) {
		text := ": " + strings.Repeat("x", 64<<10-16) + "; echo end"
		if x := p.run(t, text); x.Stdout.Text != "end\n" {
			t.Errorf("got %q", x.Stdout.Text)
		}
	})
}

// refusals checks that what cannot start is an error, and which.
func (s *suite) refusals(t *testing.T) {
	p := s.place(t)
	base := strings.TrimSpace(p.run(t, `d=$(mktemp -d) && : >"$d/file" && mkdir -m 0 "$d/shut" && echo "$d"`).Stdout.Text)
	defer p.run(t, "rm -r -- '"+base+"'")
	for _, tc := range []struct {
		name, want string
		change     func(*engine.Command)
	}{
		{"no such directory", "does not exist", func(c *engine.Command) { c.WorkDir = base + "/none" }},
		{"file as directory", "not a directory", func(c *engine.Command) { c.WorkDir = base + "/file" }},
		{"relative directory", "absolute", func(c *engine.Command) { c.WorkDir = "." }},
		{"no directory", "absolute", func(c *engine.Command) { c.WorkDir = "" }},
		{"unreadable directory", "permission denied", func(c *engine.Command) { c.WorkDir = base + "/shut" }},
		{"NUL in the text", "NUL", func(c *engine.Command) { c.Text = "echo a\x00b" }},
		{"no text", "empty", func(c *engine.Command) { c.Text = "" }},
		{"no time", "time", func(c *engine.Command) { c.Timeout = 0 }},
		{"no id", "id", func(c *engine.Command) { c.ID = "" }},
		{"bad variable", "NAME=value", func(c *engine.Command) { c.Env = []string{"NOVALUE"} }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.name == "unreadable directory" && (isRoot() || p.run(t, "id -u").Stdout.Text == "0\n") {
				leftout.Skip(t, "root can enter every directory: run this as another user")
			}
			c := p.command(t, "echo started")
			tc.change(&c)
			proc, err := p.env.Start(context.Background(), c)
			if err == nil {
				t.Fatalf("it started: %+v", proc.Wait())
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %q, want something about %q", err, tc.want)
			}
		})
	}
	t.Run("the same without a fault", func(t *testing.T) {
		if x := p.run(t, "echo started"); x.Stdout.Text != "started\n" {
			t.Errorf("%+v", x)
		}
	})
	t.Run("ended context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := p.env.Start(ctx, p.command(t, "echo started")); err == nil {
			t.Error("it started")
		}
	})
	t.Run("closed environment", func(t *testing.T) {
		q := s.place(t)
		c := q.command(t, "echo started")
		if err := q.env.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := q.env.Start(context.Background(), c); err == nil {
			t.Error("it started")
		}
	})
}

// lockedBuffer is written by an environment and read by a test.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, fmt.Errorf("no room") }
