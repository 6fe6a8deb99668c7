package runnertest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/supervisor"
)

// asGateway holds, in the environment of a test binary, the name of what it is to open as a gateway that
// gets no chance to clean up. tagName holds what its processes are known by.
const (
	asGateway = "SALLYPORT_RUNNERTEST_GATEWAY"
	tagName   = "SALLYPORT_RUNNERTEST_TAG"
)

// Gateway is called first in the TestMain of a runner that sets Options.Gateway: the suite starts the test
// binary once more, as the process that it then kills. In that process Gateway does not return; in every
// other it does nothing.
func Gateway(name string, open func() (engine.Environment, error)) {
	if os.Getenv(asGateway) != name {
		return
	}
	if err := beGateway(open); err != nil {
		panic(err)
	}
	select {} // it does not close: what has to end must end without it
}

func beGateway(open func() (engine.Environment, error)) error {
	env, err := open()
	if err != nil {
		return err
	}
	c, err := env.Prepare(zoo(false)+"sleep 60", "/")
	if err != nil {
		return err
	}
	c.ID, c.Timeout, c.Grace, c.Output = "D-"+nonce(), time.Minute, 300*time.Millisecond, 1<<16
	c.Env = append(c.Env, "TAG="+os.Getenv(tagName))
	p, err := env.Start(context.Background(), c)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, "up")
	p.Wait()
	return nil
}

// zoo is all styles at once that need no program besides those that every environment has, with those that
// start very many processes or without.
func zoo(crowds bool) string {
	var all strings.Builder
	for _, st := range styles() {
		if (crowds || st.want < 100) && !strings.Contains(st.text, "exec -a") {
			all.WriteString(st.text + "\n")
		}
	}
	return all.String()
}

// gateway kills the process that holds an environment, and looks at what is left of its command.
func (s *suite) gateway(t *testing.T) {
	if runtime.GOOS != "linux" {
		leftout.Skip(t, "what is left is looked for in /proc of this machine: run this on Linux")
	}
	tag := newTag()
	holder, err := supervisor.OpenProgram([]string{os.Args[0]}, append(os.Environ(), asGateway+"="+s.o.Gateway, tagName+"="+tag), "")
	if err != nil {
		t.Fatal(err)
	}
	kill := func() error {
		process, err := os.FindProcess(holder.PID())
		if err != nil {
			return err
		}
		return process.Kill()
	}
	defer func() {
		_ = kill()
		_ = holder.Close()
	}()
	if line, err := bufio.NewReader(holder).ReadString('\n'); line != "up\n" {
		t.Fatalf("the gateway says %q: %v", line, holder.Explain(err))
	}
	await(t, func() bool { return tagged(t, tag) >= len(styles())-3 })
	p := s.place(t)
	base := p.run(t, "true").Duration
	if err := kill(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	await(t, func() bool { return tagged(t, tag) == 0 })
	if took, limit := time.Since(began), 500*time.Millisecond+50*base; took > limit {
		t.Errorf("the end took %v, want less than %v (simplest command: %v)", took, limit, base)
	} else {
		t.Logf("all gone after %v", took.Round(time.Millisecond))
	}
}

// tagged counts the living processes of this machine with a tag among their arguments.
func tagged(t *testing.T, tag string) int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		b, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err == nil && strings.Contains(string(b), tag) {
			n++
		}
	}
	return n
}
