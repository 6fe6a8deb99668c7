package runnertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
)

// status checks that exit codes and signals are told as they are. Its 256 commands in a row also
// show that an environment does not wear out.
func (s *suite) status(t *testing.T) {
	p := s.place(t)
	t.Run("exit codes, many in a row", func(t *testing.T) {
		for code := 0; code < 256; code += 5 {
			text := fmt.Sprintf("%d\n", code)
			x := p.run(t, fmt.Sprintf("echo %d; exit %d", code, code))
			if x.Code != code || x.Signal != "" || x.Stdout.Text != text {
				t.Fatalf("exit %d: got code %d, signal %q, stdout %q", code, x.Code, x.Signal, x.Stdout.Text)
			}
		}
	})
	t.Run("signals", func(t *testing.T) {
		for n, name := range map[int]string{
			6: "SIGABRT", 9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
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
		// tail keeps the whole of a line that has no end. Only the use of a command above that of this process is
		// told apart from it (see MaxRSS), and this process may have used much before.
		size := peak(t) + 64<<20
		x := p.run(t, fmt.Sprintf("head -c %d /dev/zero | tail -n 1 >/dev/null", size))
		if want := size - 8<<20; x.MaxRSS < want {
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
		c := p.command(t, "echo one; echo two >&2; read -r x </dev/null; sleep 100")
		c.Stdout, c.Stderr = &out, &err
		proc := p.start(t, c)
		await.True(t, "its output is seen", func() bool {
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

// refusals checks that commands that cannot start are errors, and which.
func (s *suite) refusals(t *testing.T) {
	p := s.place(t)
	base := strings.TrimSpace(
		p.run(t, `d=$(mktemp -d) && : >"$d/file" && mkdir -m 0 "$d/shut" && echo "$d"`).Stdout.Text)
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
			c := p.command(t, "echo started")
			tc.change(&c)
			proc, err := p.env.Start(context.Background(), c)
			if tc.name == "unreadable directory" && p.run(t, "cd '"+base+"/shut'").Code == 0 {
				// Root can enter every directory if it has its rights, so here it is no refusal that is right.
				if err != nil || proc.Wait().Code != 0 {
					t.Errorf("root could not enter the directory: %v", err)
				}
				return
			}
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

// peak is the most memory that this process has used so far, in bytes; 0 where the kernel does not say.
func peak(t *testing.T) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscanf(rest, "%d kB", &kib); err != nil {
		t.Fatal(err)
	}
	return kib << 10
}
