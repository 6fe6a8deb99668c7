package endtoend

import (
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// TestServingSteps does what docs/serving-policies.md says, from its first step to its last, with a real nginx and a
// real server of tools that goes on running all the while: where the page tells what an agent gets, an agent asks.
func TestServingSteps(t *testing.T) {
	t.Parallel()
	for _, needed := range []string{"nginx", "openssl", "git"} {
		leftout.Command(t, needed)
	}
	steps := stepsOf(t, "../../docs/serving-policies.md")
	steps = strings.ReplaceAll(steps, "8443", freePort(t))
	s := newServer(t)
	w := &walk{t: t, server: s}
	s.env = append(s.env, "NO_COLOR=1", "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH")+":/usr/sbin")
	if r := run(t, s.workspace, s.env, "git", "init", "-q"); r.code != 0 {
		t.Fatal(r.stderr)
	}
	t.Cleanup(func() {
		_ = exec.Command("nginx", "-p", filepath.Join(s.workspace, "server"), "-c", "nginx.conf", "-e", "error.log", "-s", "stop").Run() // it may have ended already
	})
	for _, m := range regexp.MustCompile("(?s)<!-- (agent) (.*?) -->|(?:<!-- write ([^ ]+) -->\n)?```[a-z]*\n(.*?)```\n").FindAllStringSubmatch(steps, -1) {
		switch {
		case m[1] != "":
			w.agent(m[2])
		case m[3] != "":
			if err := os.WriteFile(filepath.Join(s.workspace, m[3]), []byte(m[4]), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			for _, c := range shownIn(m[4]) {
				w.command(c)
			}
		}
	}
	if w.commands < 10 || w.asked < 5 {
		t.Errorf("%d commands and %d questions found in the steps", w.commands, w.asked)
	}
	if s.cmd != nil {
		s.quit()
	}
}

// walk goes through a page.
type walk struct {
	t               *testing.T
	server          *server
	commands, asked int
}

func (w *walk) command(c shown) {
	w.t.Helper()
	w.commands++
	cmd := exec.Command("bash", "-o", "pipefail", "-c", c.text)
	cmd.Dir, cmd.Env = w.server.workspace, w.server.env
	out, _ := cmd.CombinedOutput() // check exits with what it decides
	got, want := steady(string(out)), steady(c.output)
	if before, open := strings.CutSuffix(want, "…\n"); open && strings.HasPrefix(got, before) {
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Errorf("$ %s\n(-page +now):\n%s", c.text, diff)
	}
}

// agent does what a mark says: "COMMAND => EFFECT [RULE]" asks until it is so, and "refused TEXT" waits until the
// server has told its operator so.
func (w *walk) agent(mark string) {
	w.t.Helper()
	w.asked++
	s := w.server
	if s.cmd == nil {
		s.global = []string{"--config", filepath.Join(s.workspace, "sallyport.yaml")}
		s.start()
		s.greet()
	}
	text, refused := strings.CutPrefix(mark, "refused ")
	command, want, _ := strings.Cut(mark, " => ")
	var got string
	if !await.Holds(func() bool {
		if refused {
			got = s.stderr()
			return strings.Contains(got, text)
		}
		r := s.call("execute_command", map[string]any{"command": command}).Structured
		got = r.Effect
		for _, reason := range r.Reasons {
			got += " " + reason.Rule
		}
		return got == want
	}) {
		w.t.Fatalf("%s: got %s", mark, got)
	}
}

// freePort is a port that nobody listens on, and below those that systems give to whoever wants just one: so nobody gets
// it until it is used.
func freePort(t *testing.T) string {
	t.Helper()
	for port := 20_000 + rand.IntN(10_000); port < 32_768; port++ {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		l.Close()
		return strconv.Itoa(port)
	}
	t.Fatal("no port is free")
	return ""
}
