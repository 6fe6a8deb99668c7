package endtoend

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/await"
)

// serve starts a sallyport mcp whose commands run in containers.
func (s *site) serve(config string, args ...string) *server {
	s.t.Helper()
	m := &server{
		t: s.t, workspace: s.workspace, env: append(s.env, "SALLYPORT_CONFIG="+config), args: args, errs: filepath.Join(s.home, "stderr"), gone: make(chan struct{}),
		wire: &wire{waiting: map[string]chan message{}, got: map[string]int{}, stray: make(chan message, 1000)},
	}
	m.start()
	return m
}

// hold keeps the container of a configuration up until release, so that no command needs to start it.
func (s *site) hold(config string) (release func()) {
	s.t.Helper()
	m := s.serve(config)
	m.greet()
	m.alive()
	return m.quit
}

// TestDockerThroughMCP: an agent's shells, in the foreground and in the background, run in the container and end there.
func TestDockerThroughMCP(t *testing.T) {
	t.Parallel()
	s := dockerSite(t, runtimeImage())
	c := s.config("c", "")
	m := s.serve(c, "--session", "work")
	reply, _ := m.send("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "endtoend", "version": "1"},
	})
	var greeting struct{ Instructions string }
	if err := json.Unmarshal(m.reply(reply).Result, &greeting); err != nil {
		t.Fatal(err)
	}
	m.raw(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	// The agent is told what it works in, instead of finding out by failing.
	for _, want := range []string{"Commands run in a container", "There is no network", "There is no sudo", "explain the results"} {
		if !strings.Contains(greeting.Instructions, want) {
			t.Errorf("the instructions do not say %q:\n%s", want, greeting.Instructions)
		}
	}
	fore, back := m.both(map[string]any{"command": "test -e /.dockerenv && hostname && id -u && pwd"})
	if fore.Stdout == "" || fore.Stdout != back.Stdout || !strings.HasSuffix(fore.Stdout, s.workspace+"\n") {
		t.Errorf("foreground %+v\nbackground %+v", fore, back)
	}
	container := s.list(c)[0].Container
	// Killing a background shell ends its tree inside.
	id := m.background("(setsid sleep 4711 &) ; sleep 4711")
	s.awaitProcesses(container, "sleep 4711", 2)
	m.call("kill_background_shell", map[string]any{"shell_id": id})
	s.awaitProcesses(container, "sleep 4711", 0)
	// File tools work on the files of the container, through the same gate.
	m.call("write_file", map[string]any{"path": filepath.Join(s.workspace, "made.txt"), "content": "by a tool\n"})
	if got := s.reads(filepath.Join(s.workspace, "made.txt")); got != "by a tool\n" {
		t.Errorf("written by a tool: %q", got)
	}
	if r := m.call("execute_command", map[string]any{"command": "stat -c %u made.txt; cat made.txt"}); r.Structured.Stdout != "1000\nby a tool\n" && os.Getuid() == 0 {
		t.Errorf("seen inside: %+v", r.Structured)
	}
	m.call("write_file", map[string]any{"path": "/etc/made.txt", "content": "x"})
	if r := m.call("execute_command", map[string]any{"command": "ls /etc/made.txt"}); r.Structured.Stdout != "" {
		t.Errorf("a tool wrote outside of the granted places: %+v", r.Structured)
	}
	// The end of the session is the end of the container, which is killed at once.
	signals := s.signals(container)
	m.quit()
	if got := signals(); !slices.Equal(got, []string{"9"}) {
		t.Errorf("the container was ended with the signals %q", got)
	}
	if all := s.list(c); len(all) != 1 || all[0].State != "gone" || all[0].Session != "work" {
		t.Errorf("%+v", all)
	}
	if log := s.do(c, "env", "logs").stdout; !strings.Contains(log, "sleep 4711") || !strings.Contains(log, "killed: ") {
		t.Errorf("the log:\n%s", log)
	}
}

// awaitProcesses waits until a container has so many processes of a command.
func (s *site) awaitProcesses(container, command string, n int) {
	s.t.Helper()
	await.True(s.t, fmt.Sprintf("%d times %q runs in the container", n, command), func() bool {
		return strings.Count(s.engine("top", container, "-eo", "pid,args"), command) == n
	})
}

// TestDockerDeadSession: what a killed sallyport leaves behind is shown, and the next one of the state directory removes it.
func TestDockerDeadSession(t *testing.T) {
	t.Parallel()
	s := dockerSite(t, runtimeImage())
	c := s.config("c", "")
	for _, way := range []string{"prune", "the next session"} {
		m := s.serve(c, "--session", "dies")
		m.greet()
		m.background("sleep 4712")
		container := s.list(c)[0].Container
		if container == "" {
			t.Fatal("there is no container")
		}
		if r := s.do(c, "env", "prune"); r.code != 0 || s.list(c)[0].Container != container {
			t.Errorf("what is in use was pruned: %+v", r)
		}
		if err := m.cmd.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		m.ended()
		await.True(t, "the session is listed as dead", func() bool { return s.list(c)[0].State == "dead" })
		s.awaitProcesses(container, "sleep 4712", 0)
		if way == "prune" {
			if r := s.do(c, "env", "prune"); r.code != 0 || !strings.Contains(r.stdout, "container sallyport-agent-dies-") {
				t.Errorf("prune: %+v", r)
			}
		} else {
			s.sh(c, "true", "--session", "another")
		}
		for _, e := range s.list(c) {
			if e.Session == "dies" && (e.Container != "" || e.State != "gone") {
				t.Errorf("after %s: %+v", way, e)
			}
		}
		if log := s.do(c, "env", "logs", "sallyport-agent-dies").stdout; !strings.Contains(log, "sleep 4712") {
			t.Errorf("the log did not survive:\n%s", log)
		}
	}
}

// TestDockerStrangersContainer: a container of the same name that is not ours stays, and the request is an error that says so.
func TestDockerStrangersContainer(t *testing.T) {
	t.Parallel()
	s := dockerSite(t, runtimeImage())
	c := s.config("c", "")
	s.sh(c, "true", "--session", "taken")
	name := s.list(c)[0].Name
	label := "sallyport-test=" + filepath.Base(filepath.Dir(s.home))
	stranger := s.engine("create", "--name", name, "--label", label, runtimeImage(), "true")
	t.Cleanup(func() { s.engine("rm", "--force", stranger) })
	r := s.do(c, "exec", "--session", "taken", "--", "true")
	if r.code == 0 || !strings.Contains(r.stderr, "is not sallyport's") {
		t.Errorf("%+v", r)
	}
	if r := s.do(c, "env", "rm", name); r.code == 0 {
		t.Errorf("it was removed: %+v", r)
	}
	if r := s.do(c, "env", "rm", stranger[:12]); r.code == 0 || !strings.Contains(r.stderr, "no environment is named") {
		t.Errorf("by its id: %+v", r)
	}
	if r := s.do(c, "env", "prune", "--kept"); r.code != 0 {
		t.Errorf("prune: %+v", r)
	}
	if got := s.engine("ps", "--all", "--quiet", "--no-trunc", "--filter", "label="+label); got != stranger {
		t.Errorf("the stranger's container: %q", got)
	}
	// Another state directory's container is a stranger's too.
	s.sh(s.config("kept", "keep: true"), "true", "--session", "mine")
	if r := s.do(c, "env", "prune"); r.code != 0 || !strings.Contains(r.stderr, "left, since docker.keep says so: 1 container; --kept") {
		t.Errorf("prune removed a kept container or does not say so: %+v", r)
	}
	env := s.env
	s.env = append(s.env, "XDG_STATE_HOME="+filepath.Join(s.home, "other-state"))
	if all := s.list(c); len(all) != 0 {
		t.Errorf("another state directory sees %+v", all)
	}
	s.env = env
}

// TestDockerRemove: rm ends a container with what runs in it; the next request makes another.
func TestDockerRemove(t *testing.T) {
	t.Parallel()
	s := dockerSite(t, runtimeImage())
	c := s.config("c", "keep: true")
	m := s.serve(c)
	m.greet()
	reply, _ := m.ask("execute_command", map[string]any{"command": "touch begun; sleep 61"})
	m.appears("begun")
	e := s.list(c)[0]
	if e.State != "running" {
		t.Errorf("%+v", e)
	}
	if r := s.do(c, "env", "rm", e.Container[:12]); r.code != 0 || r.stdout != e.Name+"\n" {
		t.Fatalf("%+v", r)
	}
	if r := m.result(m.reply(reply)); !r.IsError && r.Structured.Success {
		t.Errorf("the command succeeded, want failure: %+v", r)
	}
	m.alive() // in another container
	if now := s.list(c)[0]; now.Container == e.Container || now.State != "running" {
		t.Errorf("%+v", now)
	}
	m.quit()
	log := s.do(c, "env", "logs").stdout
	for _, want := range []string{"remove: by sallyport env rm", "broke", "echo alive"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not say %q:\n%s", want, log)
		}
	}
}

// TestDockerCredentials: files of the operator are there to be read, variables by name; what is not there is a warning.
func TestDockerCredentials(t *testing.T) {
	t.Parallel()
	s := dockerSite(t, runtimeImage())
	s.write(filepath.Join(s.home, ".gitconfig"), "[user]\n\tname = Sally Port\n")
	s.write(filepath.Join(s.home, ".ssh", "id_test"), "no key at all\n")
	s.give(filepath.Join(s.home, ".ssh"))
	s.write(filepath.Join(s.home, "some.env"), "# comment\nexport FROM_FILE='file value'\nOTHER=\"left out\" # inline\nBOTH=file\n")
	s.env = append(s.env, "FROM_HOST=host value", "BOTH=host", "UNNAMED=never")
	c := s.config("c", "credentials: {mount: [git_config, ssh_keys, npm_config], env_file: "+filepath.Join(s.home, "some.env")+", env_file_names: [FROM_FILE, BOTH], env: [FROM_HOST, BOTH, MISSING]}", "mode: monitor")
	r := s.do(c, "exec", "-c", `git config user.name; cat ~/.ssh/id_test; echo "$FROM_FILE|$FROM_HOST|$BOTH|$OTHER|$UNNAMED"; for f in ~/.gitconfig ~/.ssh/id_test; do echo x >> $f && echo written; done; true`)
	if r.stdout != "Sally Port\nno key at all\nfile value|host value|host||\n" || strings.Count(r.stderr, "Read-only file system") != 2 {
		t.Errorf("%+v", r)
	}
	for _, want := range []string{"npm_config", "MISSING"} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("nothing is said of %s, which is not there: %s", want, r.stderr)
		}
	}
	log := s.do(c, "env", "logs").stdout
	if !strings.Contains(log, "FROM_FILE") || strings.Contains(strings.ReplaceAll(log, "  | ", ""), "env FROM_FILE=") {
		t.Errorf("the log must have names, and no values of variables:\n%s", log)
	}
	if r := s.do(s.config("broken", "credentials: {env_file: "+filepath.Join(s.home, "none.env")+"}"), "exec", "--", "true"); r.code == 0 || !strings.Contains(r.stderr, "none.env") {
		t.Errorf("an environment file that is not there: %+v", r)
	}
	s.write(filepath.Join(s.home, "torn.env"), "GOOD=1\nthis line is s3cr3t\n")
	if r := s.do(s.config("torn", "credentials: {env_file: "+filepath.Join(s.home, "torn.env")+"}"), "exec", "--", "true"); strings.Contains(r.stderr+r.stdout, "s3cr3t") {
		t.Errorf("a line that makes no sense is shown: %+v", r)
	}
	all := s.do(s.config("all", "credentials: {pass_all: true}"), "exec", "-c", `echo "$UNNAMED|$HOME"`)
	if all.stdout != "never|/home/sallyport\n" || !strings.Contains(all.stderr, "pass_all") {
		t.Errorf("pass_all: %+v", all)
	}
}

// TestDockerPackages: packages are there before the first command, and a version is no redirect. The image is one of the
// operator's own, with a wheel in it, so that nothing has to be fetched.
func TestDockerPackages(t *testing.T) {
	t.Parallel()
	s := dockerSite(t, runtimeImage())
	dir := filepath.Join(s.home, "image")
	s.write(filepath.Join(dir, "Dockerfile"), "FROM "+runtimeImage()+"\nCOPY hello_sally-1.0-py3-none-any.whl /opt/wheels/\n")
	wheel(t, filepath.Join(dir, "hello_sally-1.0-py3-none-any.whl"), "hello_sally", "print('installed beforehand')\n")
	image := s.ownImage()
	if r := s.do(s.config("any", ""), "image", "build", "--file", filepath.Join(dir, "Dockerfile"), "--tag", image); r.code != 0 {
		t.Fatalf("build an image: %+v", r)
	}
	s.removeImage(image)
	// The installation has to have a network, also where it needs none.
	c := s.config("c", "keep: true, image: "+image+`, packages: {network: bridge, python: [/opt/wheels/hello_sally-1.0-py3-none-any.whl, "requests>=2.20"]}`)
	r := s.do(c, "exec", "-c", "python -m hello_sally; ls; ls /sys/class/net")
	if r.code != 0 || r.stdout != "installed beforehand\nlo\n" {
		t.Errorf("%+v", r)
	}
	if all := s.list(c); len(all) == 1 && all[0].Container != "" {
		s.removeImage(s.engine("inspect", "--format", "{{.Image}}", all[0].Container))
	}
	// The next session starts from what was made.
	if r := s.do(c, "exec", "--session", "next", "--", "python", "-m", "hello_sally"); r.stdout != "installed beforehand\n" || strings.Contains(r.stderr, "installing") {
		t.Errorf("the next session: %+v", r)
	}
	if r := s.do(s.config("system", "packages: {network: bridge, system: [jq]}"), "exec", "--", "true"); r.code == 0 || !strings.Contains(r.stderr, "docker-sudo") {
		t.Errorf("system packages without sudo: %+v", r)
	}
	if r := s.do(s.config("none", "packages: {python: [requests]}"), "exec", "--", "true"); r.code == 0 || !strings.Contains(r.stderr, "docker.packages.network") {
		t.Errorf("packages without a network: %+v", r)
	}
	if r := s.do(s.config("gone", "packages: {network: bridge, python: [/nowhere/x-1.0-py3-none-any.whl]}"), "exec", "--", "touch", "ran"); r.code == 0 {
		t.Errorf("packages that cannot be had: %+v", r)
	} else if _, err := os.Stat(filepath.Join(s.workspace, "ran")); err == nil {
		t.Error("the command ran all the same")
	}
}
