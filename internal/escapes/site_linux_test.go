package escapes

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/runners/boundary"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
)

// site is a world and an environment in which tries are made.
type site struct {
	*world
	env      engine.Environment
	open     opener
	elevated bool // commands ask for root by sudo
	confines bool // it protects places, and its boundary holds the files of commands
	boundary *boundary.Boundary
}

// tryGrace is the time between TERM and KILL.
const tryGrace = 300 * time.Millisecond

// run runs a text as the gate would.
func (s *site) run(text, dir string, elevated bool) (engine.Exit, error) {
	if elevated {
		text = "sudo -n bash -c " + quoted(text)
	}
	c, err := s.env.Prepare(text, dir)
	if err != nil {
		return engine.Exit{}, err
	}
	c.ID, c.Timeout, c.Grace, c.Output, c.Elevated = word("D-"), await.Guard, tryGrace, 1<<18, elevated
	p, err := s.env.Start(context.Background(), c)
	if err != nil {
		return engine.Exit{}, err
	}
	return p.Wait(), nil
}

// accepts reports whether it is known that a try gets out: by the corpus, or by what the environment says of
// itself, here and now.
func (s *site) accepts(in string, c try) bool {
	if c.accepted[in] != "" {
		return true
	}
	told, ok := s.env.(interface{ Shortcomings() []string })
	return ok && c.told != "" && slices.ContainsFunc(told.Shortcomings(), func(text string) bool { return strings.Contains(text, c.told) })
}

// keeper is the process that keeps commands, by its number in the environment.
func (s *site) keeper() (pid int) {
	if x, err := s.run("echo $PPID", s.workspace, false); err == nil {
		_, _ = fmt.Sscan(x.Stdout.Text, &pid)
	}
	return pid
}

// renew opens another environment where the one that is open says that it can be used no more, as the gate
// does before each request.
func (s *site) renew(t *testing.T) {
	t.Helper()
	if r, ok := s.env.(engine.Remote); ok && r.Err() != nil {
		t.Logf("another environment: %v", r.Err())
		must(t, s.env.Close())
		s.env = s.open(t, s.world)
		s.before = s.state(t)
	}
}

// attempt makes a try and returns in which ways it got out.
func (s *site) attempt(t *testing.T, c try) (out []string) {
	t.Helper()
	tag := runnertest.NewTag()
	if c.host != nil {
		must(t, c.host(s.world))
		s.before = s.state(t)
		if r, ok := s.env.(engine.Remote); ok && s.confines {
			await.True(t, "the environment sees the change", func() bool { return r.Err() != nil })
		}
		s.renew(t)
	}
	if s.confines {
		s.boundary.Enter()
	}
	var said string
	if c.tool != nil {
		said = c.tool(s, s.env.Files())
	} else {
		dir := s.workspace
		if c.dir != "" {
			dir += "/" + c.dir
		}
		x, err := s.run(s.preamble(tag, c.apart)+c.text, dir, s.elevated)
		said = x.Stdout.Text + x.Stderr.Text
		if err != nil {
			said = err.Error()
		}
		if x.TimedOut {
			out = append(out, fmt.Sprintf("ran into its time limit: %.300s", said))
		}
		if x.Survivors != 0 {
			out = append(out, fmt.Sprintf("%d survivors, says the exit", x.Survivors))
		}
		if x.Error != nil {
			out = append(out, "took its keeper with it: "+x.Error.Error())
		} else if x.Killed != "" || x.Signal != "" && !c.ends {
			out = append(out, fmt.Sprintf("ended by %s %s", x.Signal, x.Killed))
		}
	}
	if s.confines {
		out = append(out, s.hold()...)
	}
	t.Logf("says: %.400q", said)
	if s.elevated && c.asRoot { // what it does to the container is its own, and ends with it
		out = s.touched(t, strings.ReplaceAll(said, s.got, ""))
		s.renew(t)
		return append(out, s.left(tag)...)
	}
	return append(append(out, s.reached(t, said, tag)...), s.serves()...)
}

// hold holds the files that a try left, as the gate does with those that policies refuse.
func (s *site) hold() (out []string) {
	var all []engine.Held
	found := s.boundary.Leave()
	for _, p := range found {
		all = append(all, engine.Held{Path: p})
	}
	for _, h := range s.boundary.Hold(word("d-"), all) {
		if h.Error != "" {
			out = append(out, h.String())
		}
	}
	return out
}

// reached looks, from the host, at what a try has done.
func (s *site) reached(t *testing.T, said, tag string) (out []string) {
	t.Helper()
	return append(s.touched(t, said), s.left(tag)...)
}

// touched is what it has come to know and changed.
func (s *site) touched(t *testing.T, said string) (out []string) {
	t.Helper()
	switch {
	case strings.Contains(said, s.secret):
		out = append(out, "the secret came back")
	case strings.Contains(said, s.got):
		out = append(out, "the kernel let it through")
	}
	out = append(out, s.changes(t)...)
	out = append(out, s.gifts()...)
	out = append(out, s.listeners.calls(t)...)
	if now := s.victim.condition(); now != s.victim.before {
		out = append(out, "the process of the host is "+now)
	}
	return out
}

// left is what is still there of it.
func (s *site) left(tag string) (out []string) {
	if left := s.survivors(tag); len(left) > 0 {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", left[0]))
		out = append(out, fmt.Sprintf("%d processes are left, such as %.60q", len(left), line))
	}
	return out
}

// survivors waits, where something ends them, until no process has a tag, and returns those that have.
func (s *site) survivors(tag string) (left []int) {
	gone := func() bool {
		left = runnertest.Tagged(tag)
		return len(left) == 0
	}
	if s.env == nil {
		gone()
	} else {
		await.Holds(gone)
	}
	return left
}

// serves tells whether the environment does what it is for.
func (s *site) serves() (out []string) {
	if x, err := s.run("echo alive", s.workspace, false); err != nil || x.Error != nil || x.Stdout.Text != "alive\n" || x.Code != 0 {
		out = append(out, fmt.Sprintf("the environment serves no more: %v, %+v", err, x))
	}
	return out
}

// inNamespaces runs a proof as root in namespaces of its own.
func (s *site) inNamespaces(t *testing.T, c try) []string {
	t.Helper()
	const script = `%s
try() {
%s
}
export -f try
%s`
	words := []string{"--mount", "--uts", "--ipc", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private", "--", "bash", "-c",
		fmt.Sprintf(script, s.preamble(runnertest.NewTag(), c.apart), c.text, c.alone)}
	if os.Getuid() != 0 {
		words = append([]string{"--user", "--map-root-user"}, words...)
	}
	cmd := exec.CommandContext(await.Context(t), "unshare", words...)
	cmd.Dir = s.workspace
	said, _ := cmd.CombinedOutput() // what it says shows whether it went through
	t.Logf("says: %.400q", said)
	return s.reached(t, string(said), runnertest.NewTag())
}

// bare runs a proof by a plain bash, as a program would that does not keep what it starts.
func (s *site) bare(t *testing.T, c try) []string {
	t.Helper()
	if c.tool != nil {
		return s.reached(t, c.tool(s, plainFiles{}), runnertest.NewTag())
	}
	tag := runnertest.NewTag()
	defer func() {
		for _, pid := range runnertest.Tagged(tag) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}()
	text := s.preamble(tag, c.apart) + c.text
	if c.terminal {
		text = "script -qec " + quoted("bash -c "+quoted(text)) + " /dev/null"
	}
	cmd := exec.Command("bash", "-c", text)
	cmd.Dir = s.workspace
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	dir, err := os.Open(s.workspace)
	must(t, err)
	defer dir.Close()
	cmd.ExtraFiles = []*os.File{dir}
	cmd.WaitDelay = time.Second
	said, _ := cmd.CombinedOutput() // what it says shows whether it went through
	var left []int
	if strings.Contains(c.text, "$TAG") {
		left = lasting(tag)
	}
	t.Logf("says: %.400q", said)
	out := s.touched(t, string(said))
	if len(left) > 0 {
		out = append(out, fmt.Sprintf("%d processes are left", len(left)))
	}
	return out
}

// lasting waits for processes with a tag that are there at several looks in a row, and returns them. A
// process that becomes another program shows no arguments for a moment, so it counts by its id from when it
// was seen.
func lasting(tag string) (seen []int) {
	looks := 0
	await.Holds(func() bool {
		seen = slices.DeleteFunc(seen, func(pid int) bool { return syscall.Kill(pid, 0) != nil })
		if looks++; len(seen) == 0 {
			seen, looks = runnertest.Tagged(tag), 0
		}
		return looks == 10
	})
	return seen
}
