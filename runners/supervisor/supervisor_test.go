package supervisor

import (
	"context"
	"crypto/rand"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

func newSupervisor(t *testing.T, opts Options) *Supervisor {
	t.Helper()
	s, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func command(text string, env ...string) engine.Command {
	return engine.Command{
		ID: "D-" + rand.Text(), Text: text, WorkDir: os.TempDir(), Env: append(env, "PATH="+os.Getenv("PATH")),
		Timeout: time.Hour, Grace: 100 * time.Millisecond, Output: 1 << 16,
	}
}

func start(t *testing.T, s *Supervisor, c engine.Command) *Process {
	t.Helper()
	p, err := s.Start(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestFindShell(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		leftout.Skip(t, leftout.Platform, "the programs of this test are shell scripts: run it on a Unix")
	}
	dir := func(names ...string) string {
		d := t.TempDir()
		for _, n := range names {
			if err := os.WriteFile(filepath.Join(d, n), []byte("#!/bin/sh\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		return d
	}
	both, sh := dir("bash", "sh"), dir("sh")
	if err := os.WriteFile(filepath.Join(sh, "bash"), nil, 0o644); err != nil { // not executable
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, path, want string }{
		{"bash on PATH", both, both + "/bash"},
		{"bash later on PATH than sh", sh + ":" + both, both + "/bash"},
		{"relative directories do not count", "rel:.::" + both, both + "/bash"},
	} {
		if got, err := FindShell(tc.path); err != nil || got.Path != tc.want || got.POSIX {
			t.Errorf("%s: got %+v, %v, want %s", tc.name, got, err, tc.want)
		}
	}
	if got, err := FindShell(""); err != nil || !filepath.IsAbs(got.Path) {
		t.Errorf("without PATH: got %+v, %v", got, err)
	}
}

func TestShell(t *testing.T) {
	t.Parallel()
	t.Run("reported", func(t *testing.T) {
		p := start(t, newSupervisor(t, Options{}), command("echo $0"))
		if x := p.Wait(); strings.TrimSpace(x.Stdout.Text) != filepath.Base(p.Shell().Path) {
			t.Errorf("%+v, shell %+v", x, p.Shell())
		}
	})
	t.Run("not there", func(t *testing.T) {
		s := newSupervisor(t, Options{Shell: &Shell{Path: "/no/such/shell"}})
		_, err := s.Start(context.Background(), command("echo started"))
		if err == nil || !strings.Contains(err.Error(), "/no/such/shell") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("sh", func(t *testing.T) {
		if _, err := os.Stat("/bin/sh"); err != nil {
			leftout.Skip(t, leftout.Platform, "no /bin/sh: run it on a Unix")
		}
		p := start(t, newSupervisor(t, Options{Shell: &Shell{Path: "/bin/sh", POSIX: true}}), command("echo $0"))
		if x := p.Wait(); x.Stdout.Text != "sh\n" || !p.Shell().POSIX {
			t.Errorf("%+v", x)
		}
	})
}

// TestBlockedWriter checks that a reader who stopped reading does not keep a command alive.
func TestBlockedWriter(t *testing.T) {
	t.Parallel()
	var clock handClock
	s := newSupervisor(t, Options{clock: clock.clock})
	r, w := io.Pipe()
	defer r.Close()
	c := command("echo before; sleep 600")
	c.Stdout = w
	p := start(t, s, c)
	shows(t, p, "before\n")
	called(t, p.stdout.view)
	p.Kill("test")
	clock.pass(t, drainTime)
	x := p.Wait()
	if x.Killed != "test" || x.Error == nil || x.Stdout.Text != "before\n" || x.Survivors != 0 {
		t.Errorf("%+v", x)
	}
}

func TestKillWithoutReason(t *testing.T) {
	t.Parallel()
	p := start(t, newSupervisor(t, Options{}), command("sleep 60"))
	p.Kill("")
	if x := p.Wait(); x.Killed == "" {
		t.Errorf("%+v", x)
	}
}

func TestShortcomings(t *testing.T) {
	t.Parallel()
	s := newSupervisor(t, Options{})
	start(t, s, command(":")).Wait()
	got := s.Shortcomings()
	if runtime.GOOS != "linux" && len(got) == 0 {
		t.Error("nothing is said about what this system cannot do")
	}
	for _, line := range got {
		t.Logf("here: %s", line)
	}
}
