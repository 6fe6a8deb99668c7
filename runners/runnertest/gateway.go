package runnertest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/supervisor"
)

// In the environment of a test binary, asGateway holds the name of an environment to open as a gateway that
// gets no chance to clean up, tagName the tag of its processes, and limitName the timeout of its command.
const (
	asGateway = "SALLYPORT_RUNNERTEST_GATEWAY"
	tagName   = "SALLYPORT_RUNNERTEST_TAG"
	limitName = "SALLYPORT_RUNNERTEST_LIMIT"
)

// Gateway is called first in the TestMain of a runner that sets Options.Gateway, or calls Hold: the test
// binary is started once more, as the process that is then killed. In that process Gateway does not return;
// in every other it does nothing.
func Gateway(name string, open func() (engine.Environment, error)) {
	if os.Getenv(asGateway) != name {
		return
	}
	if err := beGateway(open); err != nil {
		panic(err)
	}
	select {} // it does not close: its processes must end without it
}

func beGateway(open func() (engine.Environment, error)) error {
	limit, err := time.ParseDuration(os.Getenv(limitName))
	if err != nil {
		return err
	}
	env, err := open()
	if err != nil {
		return err
	}
	text, _ := Escapes()
	if limit < await.Guard {
		text = ": " + os.Getenv(tagName) + "\n" + text // the shell is seen too, from its start
	}
	c, err := env.Prepare(text+"sleep 1200", "/")
	if err != nil {
		return err
	}
	c.ID, c.Timeout, c.Grace, c.Output = "D-"+nonce(), limit, 100*time.Millisecond, 1<<16
	c.Env = append(c.Env, "TAG="+os.Getenv(tagName))
	p, err := env.Start(context.Background(), c)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, "up")
	p.Wait()
	return nil
}

// Holder is a process that holds an environment and runs Escapes in it.
type Holder struct {
	program *supervisor.Program
	tag     string
}

// Hold starts this test binary once more, to open an environment of Gateway by its name, with more variables.
// It returns when the processes of its command are there; with a timeout shorter than a test's wait, at the
// start of its shell, since the others may be ended on their way.
func Hold(t *testing.T, name string, limit time.Duration, vars ...string) *Holder {
	t.Helper()
	if runtime.GOOS != "linux" {
		leftout.Skip(t, leftout.Platform, "what is left is looked for in /proc of this machine: run this on Linux")
	}
	tag := NewTag()
	vars = append(vars, asGateway+"="+name, tagName+"="+tag, limitName+"="+limit.String())
	program, err := supervisor.OpenProgram([]string{os.Args[0]}, append(os.Environ(), vars...), "")
	if err != nil {
		t.Fatal(err)
	}
	h := &Holder{program: program, tag: tag}
	t.Cleanup(func() {
		_ = h.signal(os.Kill)
		_ = program.Close()
	})
	if line, err := bufio.NewReader(program).ReadString('\n'); line != "up\n" {
		t.Fatalf("the gateway says %q: %v", line, program.Explain(err))
	}
	if _, want := Escapes(); limit >= await.Guard {
		await.True(t, fmt.Sprintf("%d processes that are to die are there", want),
			func() bool { return len(Tagged(tag)) >= want })
	}
	return h
}

// End sends a signal to the process, and waits until nothing of its command is left.
func (h *Holder) End(t *testing.T, s os.Signal) {
	t.Helper()
	if err := h.signal(s); err != nil {
		t.Fatal(err)
	}
	await.True(t, "nothing of its command is left", func() bool { return len(Tagged(h.tag)) == 0 })
}

// Done is closed when the process has ended.
func (h *Holder) Done() <-chan struct{} { return h.program.Done() }

func (h *Holder) signal(s os.Signal) error {
	process, err := os.FindProcess(h.program.PID())
	if err != nil {
		return err
	}
	return process.Signal(s)
}

// gateway kills the process that holds an environment, and looks for survivors of its command.
func (s *suite) gateway(t *testing.T) {
	Hold(t, s.o.Gateway, time.Hour).End(t, os.Kill)
}
