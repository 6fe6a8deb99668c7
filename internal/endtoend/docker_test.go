package endtoend

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// site is a home with a workspace whose commands run in containers of a real engine.
type site struct {
	t         *testing.T
	home      string
	workspace string
	env       []string
	docker    string // the engine's own command line
	images    []string
}

// dockerSite makes one, or skips the test where there is no engine or no such image. Its containers are
// removed at the end of the test.
func dockerSite(t *testing.T, image string) *site {
	t.Helper()
	s := &site{t: t, docker: leftout.NeedDocker(t, image)}
	s.workspace, s.env = home(t)
	s.home = filepath.Dir(s.workspace)
	for _, name := range []string{"DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY"} {
		if v, ok := os.LookupEnv(name); ok {
			s.env = append(s.env, name+"="+v)
		}
	}
	s.give(s.workspace)
	t.Cleanup(s.clean)
	return s
}

// images of the tests.
func runtimeImage() string {
	return cmp.Or(os.Getenv("SALLYPORT_TEST_IMAGE"), "sallyport/runtime:latest")
}
func sudoImage() string {
	return cmp.Or(os.Getenv("SALLYPORT_TEST_SUDO_IMAGE"), "sallyport/runtime-sudo:latest")
}

// ownImage is a name for an image of this test alone.
func (s *site) ownImage() string {
	unique := regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(filepath.Base(filepath.Dir(s.home)), "")
	return "sallyport-test/" + strings.ToLower(unique) + ":1"
}

// removeImage has an image go when the test is over, after the containers that are made from it.
func (s *site) removeImage(image string) {
	s.images = append(s.images, image)
}

// give makes a place one of an ordinary user: commands never run as root.
func (s *site) give(path string) {
	s.t.Helper()
	if os.Getuid() != 0 {
		return
	}
	err := filepath.WalkDir(path, func(p string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(p, 1000, 1000)
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// config writes a configuration and returns its name. docker is what stands under that key, on one line.
func (s *site) config(name, docker string, lines ...string) string {
	s.t.Helper()
	file := filepath.Join(s.home, name+".yaml")
	lines = append([]string{"version: 1", "workspace: " + s.workspace, unhurried}, lines...)
	text := strings.Join(lines, "\n") + "\n"
	if !strings.Contains(text, "\nrunner: ") {
		text += "runner: docker\n"
	}
	image := runtimeImage()
	if strings.Contains(text, "runner: docker-sudo") {
		image = sudoImage()
	}
	if docker != "" {
		docker = ", " + docker
	}
	if !strings.Contains(docker, "image:") {
		docker = ", image: " + image + docker
	}
	text += "docker: {" + strings.TrimPrefix(docker, ", ") + "}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return file
}

// do runs sallyport under a configuration.
func (s *site) do(config string, words ...string) result {
	s.t.Helper()
	return run(s.t, s.workspace, s.env, append([]string{program, "--config", config}, words...)...)
}

// sh runs a text that must end with 0, and returns its output.
func (s *site) sh(config, text string, flags ...string) string {
	s.t.Helper()
	r := s.do(config, slices.Concat([]string{"exec"}, flags, []string{"-c", text})...)
	if r.code != 0 {
		s.t.Errorf("%s: exit %d\n%s%s", text, r.code, r.stdout, r.stderr)
	}
	return r.stdout
}

// write writes a file on this side.
func (s *site) write(path, text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
	s.give(path)
}

// reads is what a file holds on this side; "" if there is none.
func (s *site) reads(path string) string {
	b, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		s.t.Error(err)
	}
	return string(b)
}

// engine runs the engine's own command line.
func (s *site) engine(words ...string) string {
	s.t.Helper()
	out, err := exec.Command(s.docker, words...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("docker %s: %v\n%s", strings.Join(words, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// listed is a row of sallyport env list.
type listed struct{ Name, Runner, Agent, Session, Workspace, State, Image, Container, Log string }

func (s *site) list(config string) (out []listed) {
	s.t.Helper()
	r := s.do(config, "env", "list", "--format", "json")
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil {
		s.t.Fatalf("%v: %+v", err, r)
	}
	return out
}

// running is the container of the one environment that runs.
func (s *site) running(config string) string {
	s.t.Helper()
	for _, e := range s.list(config) {
		if e.State == "running" && e.Container != "" {
			return e.Container
		}
	}
	s.t.Fatal("no container runs")
	return ""
}

// signals follows a container, and returns what waits for its removal and tells what signals the engine sent it until then.
func (s *site) signals(container string) func() []string {
	s.t.Helper()
	now := time.Now() // told too is what happens before the engine hears of us
	cmd := exec.CommandContext(await.Context(s.t), s.docker, "events",
		"--since", fmt.Sprintf("%d.%09d", now.Unix(), now.Nanosecond()),
		"--filter", "container="+container, "--format", "{{.Action}} {{.Actor.Attributes.signal}}")
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return func() (sent []string) {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			switch action, signal, _ := strings.Cut(lines.Text(), " "); action {
			case "kill":
				sent = append(sent, signal)
			case "destroy":
				return sent
			}
		}
		s.t.Error("the engine does not tell of the removal of " + container)
		return sent
	}
}

// clean removes the containers that are left.
func (s *site) clean() {
	file := s.config("clean", "")
	for _, e := range s.list(file) {
		if e.Container == "" {
			continue
		}
		if r := s.do(file, "env", "rm", e.Name); r.code != 0 {
			s.t.Errorf("clean up: %+v", r)
		}
	}
	for _, image := range slices.Backward(s.images) {
		s.engine("rmi", image)
	}
}
