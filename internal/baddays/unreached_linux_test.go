package baddays

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/docker"
)

// asUser holds the address of the engine that this test binary is to try as another user.
const asUser = "SALLYPORT_BADDAYS_ENGINE"

// beUser tries to reach an engine and prints the error.
func beUser(at string) int {
	r, err := docker.New(docker.Options{Host: at, Environ: os.Environ(), State: os.TempDir()})
	if err == nil {
		_, err = r.Open(context.Background(), (&home{workspace: os.TempDir()}).spec())
	}
	fmt.Println(err)
	return 0
}

// TestNoEngine has no engine at all, or a socket that something else left.
func TestNoEngine(t *testing.T) {
	leftout.Full(t, leftout.Slow)
	dead := filepath.Join(t.TempDir(), "dead.sock")
	l, err := net.Listen("unix", dead)
	must(t, err)
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	must(t, l.Close())
	for name, at := range map[string]string{
		"no socket": "unix://" + t.TempDir() + "/none.sock", "a dead socket": "unix://" + dead, "no port": "tcp://127.0.0.1:1",
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			_, err := contain(t, docker.Options{Host: at, Environ: os.Environ(), State: h.state, Supervisor: supervisor}).Open(context.Background(), h.spec())
			says(t, err, at, "start the engine", "docker.host")
		})
	}
}

// TestNoPermission may not use the engine's socket.
func TestNoPermission(t *testing.T) {
	leftout.Full(t, leftout.Slow)
	dir := newHome(t).workspace
	socket := filepath.Join(dir, "docker.sock")
	l, err := net.Listen("unix", socket)
	must(t, err)
	defer l.Close()
	must(t, os.Chmod(socket, 0))
	test := filepath.Join(dir, "test")
	must(t, os.Link(os.Args[0], test))
	cmd := exec.Command(test)
	cmd.Env = []string{asUser + "=unix://" + socket, "PATH=" + os.Getenv("PATH")}
	cmd.Dir = "/"
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534, NoSetGroups: true}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	says(t, fmt.Errorf("%s", strings.TrimSpace(string(out))), socket, "group docker", "permission denied")
	if n := strings.Count(string(out), "permission denied"); n != 1 {
		t.Errorf("the cause is told %d times: %s", n, out)
	}
}
