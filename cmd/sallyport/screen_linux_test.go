package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/internal/testprogram"
)

// sitting is a person at a terminal, with sallyport running there.
type sitting struct {
	gated
	t             *testing.T
	cmd           *exec.Cmd
	master, slave *os.File
	before        *unix.Termios

	mu    sync.Mutex
	shown bytes.Buffer
}

// sit runs sallyport with arguments at a terminal of 33 rows and 111 columns.
func sit(t *testing.T, config string, args ...string) *sitting {
	t.Helper()
	return sitIn(t, newGated(t), config, args...)
}

func sitIn(t *testing.T, g gated, config string, args ...string) *sitting {
	t.Helper()
	s := &sitting{gated: g, t: t}
	s.master, s.slave = pty(t)
	s.resize(33, 111)
	s.before = s.termios()
	if config != "" {
		file := filepath.Join(t.TempDir(), "c.yaml")
		if err := os.WriteFile(file, []byte(config+withoutSandbox), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append([]string{"--config", file}, args...)
	}
	s.cmd = exec.Command("sallyport", args...)
	s.cmd.Dir, s.cmd.Env = s.dir, append(s.env, "TERM=vt220", "NO_COLOR=1")
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = s.slave, s.slave, s.slave
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	go func() {
		for buf := make([]byte, 4096); ; {
			n, err := s.master.Read(buf)
			s.mu.Lock()
			s.shown.Write(buf[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return s
}

func (s *sitting) resize(rows, columns uint16) {
	s.t.Helper()
	if err := unix.IoctlSetWinsize(int(s.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns}); err != nil {
		s.t.Fatal(err)
	}
}

// termios are the settings of the terminal.
func (s *sitting) termios() *unix.Termios {
	s.t.Helper()
	now, err := unix.IoctlGetTermios(int(s.slave.Fd()), unix.TCGETS)
	if err != nil {
		s.t.Fatal(err)
	}
	return now
}

func (s *sitting) screen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.String()
}

// last is the end of the terminal's output.
func (s *sitting) last() string {
	shown := s.screen()
	return shown[max(0, len(shown)-1000):]
}

// sees waits until the terminal shows something.
func (s *sitting) sees(want string) {
	s.t.Helper()
	if !await.Holds(func() bool { return strings.Contains(s.screen(), want) }) {
		s.t.Fatalf("%q does not come: %q", want, s.last())
	}
}

func (s *sitting) types(keys string) {
	s.t.Helper()
	if _, err := s.master.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// lent checks that keys go to the command, and that the terminal is as it was when sallyport has ended.
func (s *sitting) lent() {
	s.t.Helper()
	if cmp.Equal(s.before, s.termios()) {
		s.t.Error("the terminal is not lent: it is as it was")
	}
}

// ends waits for the end.
func (s *sitting) ends(code int) {
	s.t.Helper()
	_ = s.cmd.Wait()
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.t.Errorf("exit %d, want %d: %q", got, code, s.last())
	}
	if diff := cmp.Diff(s.before, s.termios()); diff != "" {
		s.t.Errorf("the terminal is not what it was (-before +after):\n%s", diff)
	}
}

// TestOutputWaitsForTheLoan: output of a quick command is not shown at a terminal that would change it.
func TestOutputWaitsForTheLoan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &screen{lent: make(chan struct{})}
		var out bytes.Buffer
		go func() { _, _ = s.shown(&out).Write([]byte("quick")) }()
		if synctest.Wait(); out.Len() > 0 {
			t.Errorf("before the loan it shows %q", &out)
		}
		s.lend(&engine.Job{}) // of which nothing runs
		if synctest.Wait(); out.String() != "quick" {
			t.Errorf("it shows %q", &out)
		}
	})
}

// TestTerminal lends a terminal to commands.
func TestTerminal(t *testing.T) {
	t.Parallel()
	// A shell takes an interrupt for handled when the program that it waits for ends well at that moment.
	const sizes = `trap 'trap - INT; kill -INT $$' INT; echo "kind $TERM"; while :; do stty size; sleep 0.05; done`
	for name, test := range map[string]func(t *testing.T){
		"size and Ctrl-C": func(t *testing.T) {
			s := sit(t, "", "exec", "--tty", "-c", sizes)
			s.sees("kind vt220\r\n33 111\r\n")
			s.lent()
			s.resize(44, 122)
			s.sees("\n44 122\r\n")
			s.types("\x03")
			s.ends(130)
			if killed, signal := s.outcome(t); killed != "" || signal != "SIGINT" {
				t.Errorf("on record: killed %q, signal %q", killed, signal)
			}
			list, records := s.sallyport("audit", "list", "--kind", "decision", "--format", "json")
			if err := list.Run(); err != nil || !strings.Contains(records.String(), `"stdin":true`) {
				t.Errorf("policies are not told of an input: %v: %s", err, records)
			}
		},
		"an agent in wrap": func(t *testing.T) {
			leftout.Command(t, "bwrap")
			dir := t.TempDir()
			if err := testprogram.Build(dir, "cmd/sallyport-supervisor"); err != nil {
				t.Fatal(err)
			}
			g := newGated(t)
			if install, out := g.sallyport("agents", "install", "claude-code", "--yes"); install.Run() != nil {
				t.Fatal(out)
			}
			agent := filepath.Join(g.dir, "agent")
			if err := os.WriteFile(agent, []byte("#!/bin/bash\n"+sizes+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			s := sitIn(t, g, "version: 1\nsupervisor: "+filepath.Join(dir, "sallyport-supervisor")+"\n",
				"wrap", "--host", "claude-code", "--", "./agent")
			s.sees("kind vt220\r\n33 111\r\n")
			s.lent()
			s.resize(44, 122)
			s.sees("\n44 122\r\n")
			s.types("\x03")
			s.ends(130)
		},
		"Ctrl-D": func(t *testing.T) {
			s := sit(t, "", "exec", "-t", "-c", "echo up; cat; exit 3")
			s.sees("up")
			s.types("hello\r")
			s.sees("hello\r\nhello\r\n")
			s.types("\x04")
			s.ends(3)
		},
		"SIGTERM": func(t *testing.T) {
			s := sit(t, "", "exec", "-t", "-c", sizes)
			s.sees("33 111")
			_ = s.cmd.Process.Signal(syscall.SIGTERM)
			s.ends(143)
		},
		"time limit": func(t *testing.T) {
			s := sit(t, "", "exec", "-t", "--timeout", "500ms", "-c", sizes)
			s.ends(execTimedOut)
		},
		"SIGKILL": func(t *testing.T) {
			s := sit(t, "", "exec", "-t", "-c", "echo $$ > pid; trap '' HUP; while :; do sleep 0.1; done")
			pid := waitFor(t, filepath.Join(s.dir, "pid"), 1)[0]
			_ = s.cmd.Process.Kill()
			_ = s.cmd.Wait()
			await.True(t, "the command is gone", func() bool { return !alive(pid) })
		},
		"a question first": func(t *testing.T) {
			s := sit(t, "version: 1\ncommands: {deny: [cat]}\nrules: {filters/denied: ask}\n", "exec", "-t", "-c", "echo up; cat")
			s.sees("reads your typing")
			s.sees("Type yes to allow it")
			if !cmp.Equal(s.before, s.termios()) {
				t.Error("the terminal is lent before the answer")
			}
			s.types("yes\r")
			s.sees("\r\nup\r\n")
			s.types("\x04")
			s.ends(0)
		},
		"denied": func(t *testing.T) {
			s := sit(t, "version: 1\ncommands: {deny: [cat]}\n", "exec", "-t", "-c", "echo up; cat")
			s.ends(execDenied)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}
