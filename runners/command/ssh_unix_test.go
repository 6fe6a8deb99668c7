//go:build unix

package command_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/command"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
)

// TestSSH runs the whole suite on a machine that is reached by ssh: this one, by an sshd of its own on
// the loopback with keys that nobody else has.
func TestSSH(t *testing.T) {
	words := ssh(t, "restrict")
	runnertest.Run(t, func(t *testing.T) engine.Environment {
		return open(t, command.Options{Command: append(words, program)})
	})
}

// TestForcedCommand uses a key that opens nothing but a supervisor, as docs/runners.md has it.
func TestForcedCommand(t *testing.T) {
	words := ssh(t, fmt.Sprintf("restrict,command=%q", program))
	env := open(t, command.Options{Command: append(words, "touch", filepath.Join(t.TempDir(), "mark"))})
	defer env.Close()
	p, err := env.Start(t.Context(), prepared(t, env, "echo through; ls "+t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	if x := p.Wait(); x.Stdout.Text != "through\n" || x.Error != nil {
		t.Errorf("%+v", x)
	}
}

func prepared(t *testing.T, env engine.Environment, text string) engine.Command {
	t.Helper()
	c, err := env.Prepare(text, "/")
	if err != nil {
		t.Fatal(err)
	}
	c.ID, c.Timeout, c.Output = "D-test", time.Minute, 1<<16
	return c
}

// ssh starts an sshd and returns the command line that reaches it, without the command. The options are
// those of the key.
func ssh(t testing.TB, options string) []string {
	t.Helper()
	sshd := findSSHD(t)
	client := leftout.Command(t, "ssh", "install openssh-client")
	keygen := leftout.Command(t, "ssh-keygen", "install openssh-client")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"host", "mine"} {
		if out, err := exec.Command(keygen, "-q", "-t", "ed25519", "-N", "", "-f", at(name)).CombinedOutput(); err != nil {
			t.Fatalf("make key: %v: %s", err, out)
		}
	}
	port := freePort(t)
	host, err := os.ReadFile(at("host.pub"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, at("known"), fmt.Sprintf("[127.0.0.1]:%s %s", port, host))
	key, err := os.ReadFile(at("mine.pub"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, at("authorized"), options+" "+string(key))
	write(t, at("sshd_config"), strings.Join([]string{
		"ListenAddress 127.0.0.1:" + port, "HostKey " + at("host"), "AuthorizedKeysFile " + at("authorized"), "PidFile none",
		"StrictModes no", "UsePAM no", "PasswordAuthentication no", "KbdInteractiveAuthentication no", "PermitRootLogin prohibit-password",
		"MaxStartups 100", "LogLevel ERROR", "",
	}, "\n"))
	if os.Getuid() == 0 {
		// sshd refuses to start without it; the service of the system would make it.
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	server := exec.Command(sshd, "-D", "-e", "-f", at("sshd_config"))
	server.Stderr = &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
		if t.Failed() {
			t.Logf("sshd says: %s", log.String())
		}
	})
	awaitPort(t, port)
	return []string{client, "-F", "none", "-i", at("mine"), "-p", port, "-o", "UserKnownHostsFile=" + at("known"), "-o", "StrictHostKeyChecking=yes",
		"-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes", me.Username + "@127.0.0.1"}
}

// findSSHD finds sshd, which must be named by its whole path and often lies outside PATH.
func findSSHD(t testing.TB) string {
	t.Helper()
	for _, path := range []string{"/usr/sbin/sshd", "/usr/local/sbin/sshd"} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return leftout.Command(t, "sshd", "install openssh-server")
}

func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func awaitPort(t testing.TB, port string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			c.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}
