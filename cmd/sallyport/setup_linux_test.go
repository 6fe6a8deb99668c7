package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/internal/await"
)

// TestSetupAsks has a person answer the three questions, whose standard input and output are not those of the
// program.
func TestSetupAsks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answers []string
		code    int
		written bool
		shows   []string
	}{
		"yes":      {[]string{"project\n", "local\n", "codex\n", "yes\n"}, 0, true, nil},
		"defaults": {[]string{"\n", "\n", "codex\n", "yes\n"}, 0, true, []string{"runner [local]: "}},
		"asks again": {[]string{"nowhere\n", "\n", "\n", "codecs\n", "codex\n", "yes\n"}, 0, true, []string{
			"nowhere does not exist", `did you mean "codex"?`,
		}},
		"no":           {[]string{"\n", "\n", "codex\n", "no\n"}, 1, false, nil},
		"y is not yes": {[]string{"\n", "\n", "codex\n", "y\n"}, 1, false, nil},
		"end of file":  {[]string{"\n", "\x04"}, 1, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			master, slave := pty(t)
			home := t.TempDir()
			if err := os.Mkdir(filepath.Join(home, "project"), 0o755); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("sallyport", "setup")
			cmd.Dir, cmd.Stdin = home, strings.NewReader("yes\nyes\nyes\nyes\n")
			cmd.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+filepath.Join(home, "state"),
				"XDG_CONFIG_HOME=", "CODEX_HOME=", "NO_COLOR=1")
			cmd.ExtraFiles = []*os.File{slave}
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
			screen := make(chan string, 1)
			go func() { screen <- dialogue(master, test.answers) }()
			out, _ := cmd.CombinedOutput()
			slave.Close()
			shown := <-screen
			if got := cmd.ProcessState.ExitCode(); got != test.code {
				t.Errorf("exit %d, want %d\n%s\n%s", got, test.code, shown, out)
			}
			for _, file := range []string{".codex/config.toml", ".config/sallyport/config.yaml"} {
				if _, err := os.Stat(filepath.Join(home, file)); (err == nil) != test.written {
					t.Errorf("%s: written: %v\n%s", file, err == nil, out)
				}
			}
			for _, want := range append(test.shows, "Workspace: ", "Where do commands run?") {
				if !strings.Contains(shown, want) {
					t.Errorf("the person is not shown %q:\n%s", want, shown)
				}
			}
		})
	}
}

// dialogue types one answer at each prompt, and returns all that was on the screen.
func dialogue(master *os.File, answers []string) string {
	var shown bytes.Buffer
	for seen, buf := 0, make([]byte, 4096); ; {
		_ = master.SetReadDeadline(time.Now().Add(await.Guard))
		n, err := master.Read(buf)
		shown.Write(buf[:n])
		if len(answers) > 0 && bytes.HasSuffix(shown.Bytes()[seen:], []byte(": ")) {
			seen = shown.Len()
			_, _ = master.WriteString(answers[0])
			answers = answers[1:]
		}
		if err != nil { // EIO: nobody has the terminal open any more
			return shown.String()
		}
	}
}
