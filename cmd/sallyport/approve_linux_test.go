package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// pty opens a pseudo terminal: bytes written to master arrive at slave as if typed there.
func pty(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		leftout.Skip(t, leftout.Platform, "open a pseudo terminal: "+err.Error()+": mount devpts")
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}

// TestPersonAtTheTerminal asks a person whose hands are this test.
func TestPersonAtTheTerminal(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		types string
		early bool   // "yes" is typed before the question
		limit string // of the waiting: short where it is waited for, which may be over before the question is shown
		code  int
	}{
		"yes":            {"yes\n", false, "1h", 0},
		"YES":            {" Yes \n", false, "1h", 0},
		"no":             {"no\n", false, "1h", execDenied},
		"y is not yes":   {"y\n", false, "1h", execDenied},
		"return is no":   {"\n", false, "1h", execDenied},
		"end of file":    {"\x04", false, "1h", execDenied},
		"silence":        {"", false, "100ms", execDenied},
		"interrupt":      {"\x03", false, "1h", execSignal + int(syscall.SIGINT)},
		"yes, too early": {"no\n", true, "1h", execDenied},
		"yes, but later": {"...", false, "100ms", execDenied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			master, slave := pty(t)
			if test.early {
				if _, err := master.WriteString("yes\n"); err != nil {
					t.Fatal(err)
				}
			}
			dir := t.TempDir()
			file := filepath.Join(dir, "c.yaml")
			text := "version: 1\ncommands: {deny: [touch]}\nrules: {filters/denied: ask}\nlimits: {approval: " + test.limit + "}\n" +
				withoutSandbox
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			// Standard input and output are an agent's: answering there must not count.
			cmd := exec.Command("sallyport", "--config", file, "exec", "--", "touch", "mark")
			cmd.Dir, cmd.Stdin = dir, strings.NewReader("yes\n")
			cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_STATE_HOME="+dir, "NO_COLOR=1")
			cmd.ExtraFiles = []*os.File{slave}
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
			screen := make(chan string, 1)
			go func() { screen <- conversation(master, test.types) }()
			_ = cmd.Run()
			slave.Close()
			shown := <-screen
			if got := cmd.ProcessState.ExitCode(); got != test.code {
				t.Errorf("exit %d, want %d\n%s", got, test.code, shown)
			}
			if _, err := os.Stat(filepath.Join(dir, "mark")); (err == nil) != (test.code == 0) {
				t.Errorf("it ran: %v", err == nil)
			}
			if test.limit != "1h" {
				return
			}
			for _, want := range []string{"asks to run in " + dir, "touch mark", "filters/denied", "Type yes"} {
				if !strings.Contains(shown, want) {
					t.Errorf("the person is not shown %q:\n%s", want, shown)
				}
			}
		})
	}
}

// conversation types an answer once the question stands there, and returns all that was on the screen.
func conversation(master *os.File, answer string) string {
	var shown bytes.Buffer
	typed := false
	for buf := make([]byte, 4096); ; {
		_ = master.SetReadDeadline(time.Now().Add(await.Guard))
		n, err := master.Read(buf)
		shown.Write(buf[:n])
		if !typed && strings.Contains(shown.String(), "): ") && strings.Contains(shown.String(), "Type yes") {
			typed = true
			_, _ = master.WriteString(answer)
		}
		if err != nil { // EIO: nobody has the terminal open any more
			return shown.String()
		}
	}
}
