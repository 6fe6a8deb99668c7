package outside

import (
	"bytes"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/wrapped"
)

// answering starts a server that answers every hook with its input, and every client with one line.
func answering(t *testing.T) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := serve(Options{
		Most: 1 << 20,
		Hook: func(args []string, input []byte) wrapped.Answer {
			return wrapped.Answer{Out: append([]byte(strings.Join(args, " ")+": "), input...), Err: []byte("said")}
		},
		MCP: func(_ []string, in io.Reader, out io.Writer, _ <-chan struct{}) {
			_, _ = io.Copy(out, in)
		},
	}, &exhausted{Listener: l, errors: 3})
	t.Cleanup(s.Close)
	return s
}

// exhausted is a listener that first has no descriptor left.
type exhausted struct {
	net.Listener
	errors int
}

func (e *exhausted) Accept() (net.Conn, error) {
	if e.errors--; e.errors >= 0 {
		return nil, syscall.EMFILE
	}
	return e.Listener.Accept()
}

// TestStrangers holds that connections without the token, however many, keep no program from the gate.
func TestStrangers(t *testing.T) {
	t.Parallel()
	s := answering(t)
	at, _, _ := strings.Cut(s.Link(), "/")
	first := dial(t, at)
	for range strangers + 2*atOnce {
		dial(t, at)
	}
	var out, errs bytes.Buffer
	if status := wrapped.Run(s.Link(), []string{"hook"}, strings.NewReader("in"), &out, &errs); status != 0 {
		t.Errorf("status %d: %s", status, &errs)
	}
	if _, err := first.Read(make([]byte, 1)); err == nil { // it waits for the end of the connection
		t.Error("a stranger gets an answer")
	}
}

func dial(t *testing.T, at string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestRun holds that hooks and clients reach the gate, and that without the token, without a gate or with half
// an answer a hook refuses.
func TestRun(t *testing.T) {
	s := answering(t)
	false1 := answers(t, `{"status":0,"out":"e30="`)
	false2 := answers(t, `{"status":0,"out":"e30="}`)
	for name, tc := range map[string]struct {
		link, verb, out string
		status          int
	}{
		"hook":       {s.Link(), "hook", "--config c hook x: input", 0},
		"server":     {s.Link(), "mcp", "input", 0},
		"no token":   {s.listener.Addr().String() + "/", "hook", "", 2},
		"no gate":    {"127.0.0.1:1/" + s.token, "hook", "", 2},
		"no address": {"nonsense", "mcp", "", 1},
		"cut off":    {false1 + "/x", "hook", "", 2},
		"not whole":  {false2 + "/x", "hook", "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			args := []string{"--config", "c", tc.verb, "x"}
			var out, errs bytes.Buffer
			status := wrapped.Run(tc.link, args, strings.NewReader("input"), &out, &errs)
			if status != tc.status || out.String() != tc.out || (errs.Len() == 0) != (tc.verb == "mcp" && status == 0) {
				t.Errorf("status %d, %q, %q", status, out.String(), errs.String())
			}
		})
	}
	var errs bytes.Buffer
	full := failing{}
	if status := wrapped.Run(s.Link(), []string{"hook", "x"}, strings.NewReader(""), full, &errs); status != 2 {
		t.Errorf("its answer is not written: status %d, %s", status, &errs)
	}
	failed := answers(t, `{"status":1,"out":"e30=","whole":true}`)
	if status := wrapped.Run(failed+"/x", []string{"hook"}, strings.NewReader(""), io.Discard, &errs); status != 2 {
		t.Errorf("the gate fails: status %d", status)
	}
}

// failing is a stdout that nobody reads.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestVerb holds that flags of all subcommands hide none.
func TestVerb(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"hook x": "hook", "--config c hook x": "hook", "--config=c hook x": "hook", "-v hook x": "hook",
		"-vv --verbose --config=c -v hook": "hook", "--config hook mcp": "mcp", "-v --version": "--version",
		"--verbose=2 mcp --tools x": "mcp", "--config": "", "-v": "", "": "", "--other hook": "--other",
	} {
		if got := wrapped.Verb(strings.Fields(line)); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// answers listens, and answers each program with the same text.
func answers(t *testing.T, text string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, c)
			_, _ = io.WriteString(c, text)
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}
