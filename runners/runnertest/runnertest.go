// Package runnertest holds the promises of every runner, as tests: the view of a command, the reports of its
// output and its end, that no process or file is left behind, and how file tools reach the same files.
//
// It is for tests only. A runner's own test calls Run with a function that opens an environment; other tests
// take from here the search for survivors (Tagged), and a gateway that can be killed (Hold). All checks go
// through the environment, so that they hold for containers and other machines too; it needs bash or sh,
// grep, coreutils and, for most ways to escape, setsid inside.
package runnertest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// planted is the name of a variable of this process that no command may see.
const planted = "FAKE_API_KEY"

// Options describe the extras of a place. Each is tested if set.
type Options struct {
	// Memory says that commands have little enough of it that one which takes all it can soon has none.
	Memory bool
	// Processes says that there is a limit on how many there may be: some hundred, so that it is soon reached.
	Processes bool
	// Gateway is the name by which TestMain calls Gateway; "" where no gateway can be killed.
	Gateway string
	// Parts names the tests; empty for all. It is for a place that otherwise equals one for which everything
	// is tested.
	Parts []string
}

// Run checks an environment against everything that a Runner promises. Each call of open makes
// an environment of its own; the suite closes it.
func Run(t *testing.T, open func(t *testing.T) engine.Environment) { RunIn(t, Options{}, open) }

// RunIn is Run for a place that has more.
func RunIn(t *testing.T, o Options, open func(t *testing.T) engine.Environment) {
	t.Setenv(planted, "sk-do-not-leak")
	heed(t)
	s := &suite{o: o, open: open}
	for _, part := range []struct {
		name string
		here bool
		run  func(*testing.T)
	}{
		{"status", true, s.status},
		{"streams", true, s.streams},
		{"surroundings", true, s.surroundings},
		{"descriptors", true, s.descriptors},
		{"texts", true, s.texts},
		{"refusals", true, s.refusals},
		{"output", true, s.output},
		{"ends", true, s.ends},
		{"signals", true, s.signals},
		{"terminal", true, s.terminal},
		{"escapes", true, s.escapes},
		{"many", true, s.many},
		{"files", true, s.files},
		{"leaks", true, s.leaks},
		{"memory", o.Memory, s.memory},
		{"processes", o.Processes, s.processes},
		{"gateway", o.Gateway != "", s.gateway},
	} {
		if part.here && (len(o.Parts) == 0 || slices.Contains(o.Parts, part.name)) {
			t.Run(part.name, part.run)
		}
	}
}

type suite struct {
	o    Options
	open func(t *testing.T) engine.Environment
}

// place is an open environment of one test.
type place struct {
	env engine.Environment
	dir string // a directory in which commands run
}

func (s *suite) place(t *testing.T) *place {
	t.Helper()
	env := s.open(t)
	t.Cleanup(func() {
		if err := env.Close(); err != nil {
			t.Errorf("close environment: %v", err)
		}
	})
	return &place{env: env, dir: "/"}
}

// command prepares a text as the gate would.
func (p *place) command(t *testing.T, text string) engine.Command {
	t.Helper()
	c, err := p.env.Prepare(text, p.dir)
	if err != nil {
		t.Fatalf("prepare %q: %v", text, err)
	}
	c.ID, c.Timeout, c.Grace, c.Output = "D-"+nonce(), time.Hour, 100*time.Millisecond, 1<<20
	return c
}

func (p *place) start(t *testing.T, c engine.Command) engine.Process {
	t.Helper()
	proc, err := p.env.Start(context.Background(), c)
	if err != nil {
		t.Fatalf("start %.80q: %v", c.Text, err)
	}
	return proc
}

// run runs a text to its end, which must not need any force.
func (p *place) run(t *testing.T, text string) engine.Exit {
	t.Helper()
	return p.end(t, p.command(t, text))
}

func (p *place) end(t *testing.T, c engine.Command) engine.Exit {
	t.Helper()
	x := p.start(t, c).Wait()
	if x.Error != nil || x.TimedOut || x.Killed != "" || x.Survivors != 0 {
		t.Fatalf("run %.80q: %+v", c.Text, x)
	}
	return x
}

// needs leaves the test out where the environment lacks a program.
func (p *place) needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if x := p.run(t, "command -v "+name); x.Code != 0 {
			leftout.Skip(t, leftout.Programs, "the environment has no "+name+": install it there")
		}
	}
}

func (p *place) needsBash(t *testing.T) {
	t.Helper()
	if x := p.run(t, `echo "$BASH_VERSION"`); strings.TrimSpace(x.Stdout.Text) == "" {
		leftout.Skip(
			t, leftout.Programs, "the environment runs texts with a shell that is not bash: install bash there")
	}
}

// needsProc leaves the test out where processes cannot be looked at through /proc.
func (p *place) needsProc(t *testing.T) {
	t.Helper()
	if x := p.run(t, "test -r /proc/self/stat"); x.Code != 0 {
		leftout.Skip(
			t, leftout.Platform,
			"the environment has no /proc, so nothing tells which processes are left: run this on Linux")
	}
}

// count returns how many processes of the environment have the tag among their arguments. The
// pattern does not match the looking process itself.
func (p *place) count(t *testing.T, tag string) int {
	t.Helper()
	c := p.command(t, fmt.Sprintf("grep -ls '[%s]%s' /proc/[0-9]*/cmdline", tag[:1], tag[1:]))
	return strings.Count(p.end(t, c).Stdout.Text, "\n")
}

// awaitCount waits until count is at least want.
func (p *place) awaitCount(t *testing.T, tag string, want int) {
	t.Helper()
	await.True(t, fmt.Sprintf("%d processes are there", want), func() bool { return p.count(t, tag) >= want })
}

// wait waits for the end of a command that nothing but the environment ends before the guard does.
func wait(t *testing.T, proc engine.Process) engine.Exit {
	t.Helper()
	ended := make(chan engine.Exit, 1)
	go func() { ended <- proc.Wait() }()
	return await.Receive(t, "end of the command", ended)
}

// shows waits until the standard output of a command is a text.
func shows(t *testing.T, proc engine.Process, want string) {
	t.Helper()
	await.True(t, fmt.Sprintf("it writes %q", want),
		func() bool { out, _ := proc.Output(); return out.Text == want })
}

// nonce returns 16 hexadecimal digits that occur nowhere else.
func nonce() string {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(err) // crypto/rand does not fail where Go runs
	}
	return hex.EncodeToString(b[:])
}

// heed makes this process heed interrupts for the length of a test. A script that starts tests in its
// background makes them ignore interrupts, and commands inherit that.
func heed(t *testing.T) {
	if !signal.Ignored(os.Interrupt) && !signal.Ignored(syscall.SIGQUIT) {
		return // and Ctrl-C ends the tests
	}
	came := make(chan os.Signal, 1)
	signal.Notify(came, os.Interrupt, syscall.SIGQUIT)
	t.Cleanup(func() { signal.Stop(came) })
}
