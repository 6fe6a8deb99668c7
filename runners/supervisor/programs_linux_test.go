package supervisor

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// seeing makes a supervisor that asks about programs.
func seeing(t *testing.T, o Options) *Supervisor {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o.Programs = self
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if !s.SeesPrograms() {
		leftout.Skip(t, leftout.Platform, strings.Join(s.Shortcomings(), "; "))
	}
	return s
}

// started are the programs that a command was asked about.
type started struct {
	mu       sync.Mutex
	programs []engine.Program
	refuse   string // the base name of a program
}

func (s *started) may(p engine.Program) engine.Verdict {
	s.mu.Lock()
	defer s.mu.Unlock()
	way := p.Way()
	p.Way = func() []string { return way }
	s.programs = append(s.programs, p)
	return engine.Verdict{May: filepath.Base(p.File) != s.refuse}
}

func (s *started) named(word string) *engine.Program {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.programs, func(p engine.Program) bool { return filepath.Base(p.Argv[0]) == word })
	if i < 0 {
		return nil
	}
	return &s.programs[i]
}

// A command runs as it does without questions, and each program below it is asked about.
func TestPrograms(t *testing.T) {
	t.Parallel()
	for _, apart := range []string{"", os.Args[0]} {
		s := seeing(t, Options{Apart: apart})
		c := command(
			`echo "$0 $#"; touch a b; export X=1; unset HOME; env -u Y sh -c 'rm a; echo on'; ls; cd /; pwd; exit 3`)
		c.WorkDir = t.TempDir()
		c.Env = []string{"PATH=/usr/bin", "Y=2", "HOME=/h"}
		asked := &started{refuse: "rm"}
		c.MayStart = asked.may
		p, err := s.Start(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		x := p.Wait()
		name := filepath.Base(p.Shell().Path)
		if x.Code != 3 || x.Error != nil || x.Stdout.Text != name+" 0\non\na\nb\n/\n" {
			t.Errorf("apart %q: %+v", apart, x)
		}
		if n := len(asked.programs); n != 5 {
			t.Errorf("apart %q: %d programs: %+v", apart, n, asked.programs)
		}
		rm := asked.named("rm")
		if rm == nil {
			t.Fatalf("apart %q: rm is not asked about: %+v", apart, asked.programs)
		}
		if !slices.Contains(rm.Set, "X=1") || !slices.Contains(rm.Lost, "HOME") || !slices.Contains(rm.Lost, "Y") {
			t.Errorf("variables: %q, without %q", rm.Set, rm.Lost)
		}
		if !slices.Equal(rm.Way(), []string{"sh -c rm a; echo on"}) || rm.Dir != c.WorkDir {
			t.Errorf("%+v", rm)
		}
		if self := asked.named(name); self != nil && slices.Contains(self.Argv, c.Text) {
			t.Error("the shell of the command is asked about")
		}
	}
}

// The end of a command does not wait for an answer.
func TestKilledWhileAsked(t *testing.T) {
	t.Parallel()
	s := seeing(t, Options{})
	asked, answer := make(chan struct{}), make(chan struct{})
	defer close(answer)
	c := command("ls /")
	c.MayStart = func(engine.Program) engine.Verdict {
		close(asked)
		<-answer
		return engine.Verdict{May: true}
	}
	p, err := s.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	<-asked
	p.Kill("test")
	if x := p.Wait(); x.Killed != "test" || x.Survivors != 0 {
		t.Errorf("%+v", x)
	}
}

// keepSocket executes a file that starts no program, keeps the socket that it got for that, and becomes a
// shell: nobody learns of that start before the end.
func keepSocket(broken string) int {
	_ = syscall.Exec(broken, []string{"broken"}, nil)
	for fd := range 64 {
		var st unix.Stat_t
		if unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFSOCK {
			_, _ = unix.FcntlInt(uintptr(fd), unix.F_DUPFD, 64)
		}
	}
	fmt.Println(syscall.Exec("/bin/sh", []string{"sh", "-c", "ls /; :"}, []string{"PATH=/usr/bin:/bin"}))
	return 1
}

// A start that was not compared when the command ended counts in its result.
func TestUncomparedAtTheEnd(t *testing.T) {
	t.Parallel()
	for _, apart := range []string{"", os.Args[0]} {
		s := seeing(t, Options{Apart: apart})
		dir := t.TempDir()
		if err := os.WriteFile(dir+"/broken", []byte("\x7fELF, but no more"), 0o755); err != nil {
			t.Fatal(err)
		}
		asked, answer := make(chan struct{}), make(chan struct{})
		defer close(answer)
		c := command(`"`+os.Args[0]+`"`, helper+"=keep "+dir+"/broken")
		c.MayStart = func(p engine.Program) engine.Verdict {
			if p.Argv[0] == "ls" {
				close(asked)
				<-answer // and no other call is received
			}
			return engine.Verdict{May: true}
		}
		p, err := s.Start(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-asked:
			p.Kill("test")
		case <-p.done:
		}
		if x := p.Wait(); x.Killed != "test" || x.Survivors != 0 || x.Uncompared != 1 {
			t.Errorf("apart %q: %+v", apart, x)
		}
	}
}

// TestSharedDecision holds that no program starts while several commands have one decision, since the judge
// that it belongs to is unclear.
func TestSharedDecision(t *testing.T) {
	t.Parallel()
	s := seeing(t, Options{})
	waits := command("read x")
	read, write := io.Pipe()
	defer write.Close()
	waits.Stdin = read
	wait, err := s.Start(t.Context(), waits)
	if err != nil {
		t.Fatal(err)
	}
	for _, shared := range []bool{true, false} {
		c := command("touch a 2>/dev/null; echo $?")
		c.WorkDir, c.MayStart = t.TempDir(), (&started{}).may
		want := "0\n"
		if shared {
			c.ID, want = waits.ID, "126\n"
		}
		p, err := s.Start(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if x := p.Wait(); x.Stdout.Text != want {
			t.Errorf("shared %v: %+v", shared, x)
		}
	}
	wait.Kill("test")
	if x := wait.Wait(); x.Killed != "test" {
		t.Errorf("the first command: %+v", x)
	}
}
