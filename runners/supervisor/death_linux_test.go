package supervisor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/starter"
)

// helper names, in the environment, what this test binary is to do instead of testing.
const helper = "SALLYPORT_SUPERVISOR_TEST"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == starter.Flag {
		fmt.Fprintln(os.Stderr, starter.Main(os.Args[2:]))
		os.Exit(126)
	}
	if len(os.Args) > 1 && os.Args[1] == starter.ParentFlag {
		_ = starter.BeParent()
		os.Exit(0)
	}
	if mode := os.Getenv(helper); mode == "forks" {
		os.Exit(pauseForks())
	} else if mode == "own forks" {
		os.Exit(pauseOwnForks())
	} else if broken, ok := strings.CutPrefix(mode, "keep "); ok {
		os.Exit(keepSocket(broken))
	} else if mode != "" {
		os.Exit(beGateway(mode))
	}
	os.Exit(m.Run())
}

// beGateway starts what tries to escape and then waits to be killed.
func beGateway(mode string) int {
	o := Options{}
	if mode == "apart" {
		o.Apart = os.Args[0]
	}
	s, err := New(o)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if mode == "apart" || mode == "direct" {
		return outlive(s, os.Getenv("TAG"))
	}
	if mode == "unwatched" {
		s.host.watch = &watcher{}
	}
	p, err := s.Start(context.Background(), command(escapes+"echo up; sleep 60", "TAG="+os.Getenv("TAG")))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if mode == "limited" {
		await.Holds(func() bool { out, _ := p.Output(); return out.Text != "" })
		fmt.Println(len(s.Shortcomings()))
		p.Kill("test")
		fmt.Println(p.Wait().Survivors)
		return 0
	}
	fmt.Println("up")
	p.Wait()
	return 0
}

// outlive runs a script that kills its parent and then a command that does not, and prints their ends.
func outlive(s *Supervisor, script string) int {
	for _, text := range []string{"exec sh " + script, "echo alive"} {
		p, err := s.Start(context.Background(), command(text))
		if errors.Is(err, errParentLost) { // before it told that the shell had started
			fmt.Printf("137 SIGKILL \"\" %v\n", errParentLost)
			continue
		}
		if err != nil {
			fmt.Println(err)
			return 1
		}
		x := p.Wait()
		fmt.Printf("%d %s %q %v\n", x.Code, x.Signal, x.Stdout.Text, x.Error)
	}
	return 0
}

// TestParentKilled kills the parent of a command by a script: first without a stand-in, which shows that the
// script reaches the gateway.
func TestParentKilled(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("kill -9 $PPID\nsleep 60\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(mode string) (string, error) {
		gateway := exec.Command(os.Args[0])
		gateway.Env = append(os.Environ(), helper+"="+mode, "TAG="+script)
		out, err := gateway.Output()
		return string(out), err
	}
	if out, err := run("direct"); out != "" || err == nil || err.Error() != "signal: killed" {
		t.Errorf("without a stand-in: %q, %v: the test shows nothing", out, err)
	}
	want := fmt.Sprintf("137 SIGKILL \"\" %v\n0  \"alive\\n\" <nil>\n", errParentLost)
	out, err := run("apart")
	if out != want || err != nil {
		t.Errorf("with a stand-in: %q, %v, want %q", out, err, want)
	}
}

// TestDeathOfGateway kills processes that run a Supervisor, without any chance to clean up: first one without
// a watcher, which shows that processes left behind would live on.
func TestDeathOfGateway(t *testing.T) {
	unwatched, watched := gateway(t, "unwatched"), gateway(t, "watched")
	await.True(t, "nothing of the watched one is left", func() bool { return len(tagged(t, watched)) == 0 })
	if len(tagged(t, unwatched)) == 0 {
		t.Error("nothing of the unwatched one is left: the test shows nothing")
	}
}

// gateway starts a process that runs a Supervisor, kills it, and returns the tag of its commands.
func gateway(t *testing.T, mode string) (tag string) {
	t.Helper()
	tag = newTag()
	gateway := exec.Command(os.Args[0])
	gateway.Env = append(os.Environ(), helper+"="+mode, "TAG="+tag)
	out, err := gateway.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := gateway.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = gateway.Process.Kill()
		for _, p := range tagged(t, tag) {
			p.send(unix.SIGKILL)
		}
	})
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "up\n" {
		t.Fatalf("gateway says %q", line)
	}
	there(t, tag, 5)
	_ = gateway.Process.Kill()
	_ = gateway.Wait()
	return tag
}

// TestLimited runs where the mark cannot be set, as under another Supervisor.
func TestLimited(t *testing.T) {
	t.Parallel()
	bash := leftout.Command(t, "bash")
	tag := newTag()
	gateway := exec.Command(bash, "-c", `ulimit -R 1000000000 && exec "$0"`, os.Args[0])
	gateway.Env = append(os.Environ(), helper+"=limited", "TAG="+tag)
	out, err := gateway.CombinedOutput()
	if err != nil || string(out) != "1\n0\n" {
		t.Errorf("got %q, %v, want one shortcoming and no survivor", out, err)
	}
	for _, p := range tagged(t, tag) {
		p.send(unix.SIGKILL) // what may survive there by the shortcoming
	}
}
