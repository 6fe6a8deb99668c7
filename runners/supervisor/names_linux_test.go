package supervisor

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/notify"
)

func TestFold(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"/ws/.MCP.json": "/ws/.mcp.json", "/ws/.envrc": "/ws/.envrc", "/ws/.env\u200drc": "/ws/.envrc",
		"/ws/.V\u017fcode": "/ws/.vscode", "/ws/mi\u017fe.toml": "/ws/mise.toml", "/ws/\u212a": "/ws/k",
	} {
		if got := fold(name); got != want {
			t.Errorf("%q is folded to %q, want %q", name, got, want)
		}
	}
}

// A start forgets no directories of a command that is starting, too.
func TestMadeBeforeTheStartIsOver(t *testing.T) {
	t.Parallel()
	s := newSupervisor(t, Options{Suspect: func(string) (string, bool) { return "/", false }})
	if s.host.names == nil {
		leftout.Skip(t, leftout.Platform, strings.Join(s.Shortcomings(), "; "))
	}
	if err := s.enter(); err != nil { // the start of a command that makes the directory
		t.Fatal(err)
	}
	defer s.leave()
	dir := t.TempDir() + "/dir"
	start(t, s, command(`mkdir "$DIR"`, "DIR="+dir)).Wait()
	start(t, s, command(":")).Wait()
	if !s.host.names.Made(dir) {
		t.Error("the directory is forgotten")
	}
}

// nested tells the test binary that its system calls are notified already.
const nested = "SALLYPORT_SUPERVISOR_NESTED_TEST"

// Where the kernel has no listener for us, commands run as without, and the shortcomings say so.
func TestNamesWithoutListener(t *testing.T) {
	if os.Getenv(nested) != "" {
		o := Options{Suspect: func(string) (string, bool) { return "/", true }}
		s, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		lack := strings.Join(s.Shortcomings(), "; ")
		if !strings.Contains(lack, "at the end of a command only") || !strings.Contains(lack, "busy") {
			t.Errorf("shortcomings: %s", lack)
		}
		c := command("echo x > f && cat f")
		c.WorkDir, c.MayMake = t.TempDir(), func(string) bool { return false }
		p, err := s.Start(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if x := p.Wait(); x.Stdout.Text != "x\n" {
			t.Errorf("%+v", x)
		}
		return
	}
	t.Parallel()
	service, err := notify.New(notify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	said := make(chan string)
	go func() {
		runtime.LockOSThread() // and the thread ends with its filter
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			said <- err.Error()
			return
		}
		if err := service.Install(); err != nil {
			said <- err.Error()
			return
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestNamesWithoutListener$", "-test.v")
		cmd.Env = append(os.Environ(), nested+"=yes")
		out, _ := cmd.CombinedOutput()
		said <- string(out)
	}()
	out := <-said
	if strings.Contains(out, notify.ErrUnsupported.Error()) {
		leftout.Skip(t, leftout.Platform, out)
	}
	if !strings.Contains(out, "--- PASS: TestNamesWithoutListener") {
		t.Error(out)
	}
}

// The filter of commands, which hands calls of the thread that starts them over, keeps nothing from the
// supervisor.
func TestExpendableWithNames(t *testing.T) {
	t.Parallel()
	s, err := New(Options{Expendable: true, Suspect: func(string) (string, bool) { return "", false }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p, err := s.Start(t.Context(), command("cat /proc/self/oom_score_adj"))
	if err != nil {
		t.Fatal(err)
	}
	if x := p.Wait(); x.Stdout.Text != "300\n" {
		t.Errorf("%+v", x)
	}
}
