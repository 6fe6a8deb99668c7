package supervisor

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// helper names, in the environment, what this test binary is to do instead of testing.
const helper = "SALLYPORT_SUPERVISOR_TEST"

func TestMain(m *testing.M) {
	if mode := os.Getenv(helper); mode != "" {
		os.Exit(beGateway(mode))
	}
	os.Exit(m.Run())
}

// beGateway starts what tries to escape and then waits to be killed.
func beGateway(mode string) int {
	s, err := New(Options{})
	if err != nil {
		fmt.Println(err)
		return 1
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
		for out, _ := p.Output(); out.Text == ""; out, _ = p.Output() {
			time.Sleep(time.Millisecond)
		}
		fmt.Println(len(s.Shortcomings()))
		p.Kill("test")
		fmt.Println(p.Wait().Survivors)
		return 0
	}
	fmt.Println("up")
	p.Wait()
	return 0
}

// TestDeathOfGateway kills a process that runs a Supervisor, without any chance to clean up.
func TestDeathOfGateway(t *testing.T) {
	for _, tc := range []struct {
		mode    string
		survive bool
	}{{"watched", false}, {"unwatched", true}} {
		t.Run(tc.mode, func(t *testing.T) {
			tag := newTag()
			gateway := exec.Command(os.Args[0])
			gateway.Env = append(os.Environ(), helper+"="+tc.mode, "TAG="+tag)
			out, err := gateway.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := gateway.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				for _, p := range tagged(t, tag) {
					p.send(unix.SIGKILL)
				}
			}()
			if line, _ := bufio.NewReader(out).ReadString('\n'); line != "up\n" {
				t.Fatalf("gateway says %q", line)
			}
			if !await(t, time.Minute, func() bool { return len(tagged(t, tag)) >= 5 }) {
				t.Fatal("the processes that are to die did not start")
			}
			gateway.Process.Kill()
			killed := time.Now()
			gateway.Wait()
			gone := await(t, 2*time.Second, func() bool { return len(tagged(t, tag)) == 0 })
			if gone == tc.survive {
				t.Errorf("all gone: %v after %v", gone, time.Since(killed))
			}
			t.Logf("all gone: %v after %v", gone, time.Since(killed).Round(time.Millisecond))
		})
	}
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
