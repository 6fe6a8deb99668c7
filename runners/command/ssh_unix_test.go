//go:build unix

package command_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/command"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
)

// TestSSH runs the suite on a machine that is reached by ssh: this one, by an sshd of its own on
// the loopback with keys that nobody else has.
func TestSSH(t *testing.T) {
	leftout.Full(t, leftout.Slow)
	words := ssh(t, "restrict")
	o := runnertest.Options{Parts: []string{"streams", "surroundings", "output", "ends", "signals", "terminal", "leaks"}} // the rest is as over any stream
	runnertest.RunIn(t, o, func(t *testing.T) engine.Environment {
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
	c.ID, c.Timeout, c.Output = "D-test", time.Hour, 1<<16
	return c
}

// ssh returns the command line that reaches an sshd, without the command. The options are those of the key. We listen
// and give each connection an sshd, as inetd does: a port that is free now may be somebody's when an sshd asks for it.
func ssh(t testing.TB, options string) []string {
	t.Helper()
	sshd := findSSHD(t)
	client := leftout.Command(t, "ssh")
	keygen := leftout.Command(t, "ssh-keygen")
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
	host, err := os.ReadFile(at("host.pub"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	write(t, at("known"), fmt.Sprintf("[127.0.0.1]:%s %s", port, host))
	key, err := os.ReadFile(at("mine.pub"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, at("authorized"), options+" "+string(key))
	write(t, at("sshd_config"), strings.Join([]string{
		"HostKey " + at("host"), "AuthorizedKeysFile " + at("authorized"), "PidFile none",
		"StrictModes no", "UsePAM no", "PasswordAuthentication no", "KbdInteractiveAuthentication no", "PermitRootLogin prohibit-password",
		"LogLevel ERROR", "",
	}, "\n"))
	if os.Getuid() == 0 {
		// sshd refuses to start without it; the service of the system would make it.
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		answer(t, l, sshd, "-i", "-f", at("sshd_config"), "-E", at("log"))
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
		if log, err := os.ReadFile(at("log")); t.Failed() {
			t.Logf("sshd says: %s, %v", log, err)
		}
	})
	words := []string{client, "-F", "none", "-i", at("mine"), "-p", port, "-o", "UserKnownHostsFile=" + at("known"), "-o", "StrictHostKeyChecking=yes",
		"-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes", me.Username + "@127.0.0.1"}
	// Authentication fails for an account without a login shell.
	if out, err := exec.Command(client, append(words[1:], "true")...).CombinedOutput(); strings.Contains(string(out), "Permission denied") {
		leftout.Skip(t, leftout.Platform, fmt.Sprintf("%s may not log in: %v: %s", me.Username, err, out))
	}
	return words
}

// answer starts a program for each connection, and ends those that are left when there are no more.
func answer(t testing.TB, l net.Listener, program string, args ...string) {
	var running sync.WaitGroup
	ctx, end := context.WithCancel(context.Background())
	defer running.Wait()
	defer end()
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		file, err := c.(*net.TCPConn).File()
		c.Close()
		if err != nil {
			t.Error(err)
			continue
		}
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Stdin, cmd.Stdout = file, file
		err = cmd.Start()
		file.Close()
		if err != nil {
			t.Error(err)
			continue
		}
		running.Go(func() { _ = cmd.Wait() }) // how a connection ends is for the tests to see
	}
}

// findSSHD finds sshd, which must be named by its whole path and often lies outside PATH.
func findSSHD(t testing.TB) string {
	t.Helper()
	for _, path := range []string{"/usr/sbin/sshd", "/usr/local/sbin/sshd"} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return leftout.Command(t, "sshd")
}
