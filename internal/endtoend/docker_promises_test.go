package endtoend

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The tests of the docker_*_test.go files hold what the predecessors promised of their containers, on a
// real engine and with the real program. Which promise is held where:
//
//	modes, networks and limits are validated; unknown mount names refused   TestDockerLimits
//	no engine, no right to it: an error that says what to do                TestDockerNoEngine, TestDockerDoctor
//	runtime image, sudo image, a custom image with sudo stays custom        TestDockerImages
//	an image that is not there says how to get it                           TestDockerImages, TestDockerDoctor
//	one container per agent and session, found again                        TestDockerPersists, TestDockerTwoAgents
//	a name that is taken: nobody else's container is removed                TestDockerStrangersContainer
//	workspace at its own path, read-write, for the same user                TestDockerSamePaths
//	context read-only; write access of the final agent arrives; protected   TestDockerReadOnlyContext
//	a single file as context                                                TestDockerContextFile
//	tools, skills: further mounts, read-only unless said; none dangerous    TestDockerMounts
//	credential files, env_file, env_vars, names from a file, pass_all       TestDockerCredentials
//	packages: constraints intact, needs checked first, a failure stops      TestDockerPackages
//	pip install persists to the next command                                TestDockerPersists
//	exec: status, separate streams, working directory                       TestDockerRunsCommands, TestDockerSamePaths
//	a timeout ends what runs inside                                         TestDockerTimeout
//	background shells run in the container, and are killed there            TestDockerThroughMCP
//	a stopped or removed container is started or made again                 TestDockerStoppedContainer, TestDockerRemove
//	memory and processors; network none                                     TestDockerLimits, TestDockerNetwork
//	two agents do not see each other's workspace                            TestDockerTwoAgents
//	whoami; sudo whoami is root; dangerous texts refused with sudo too      TestDockerSudo
//	clean up at the end, at once; what a crash leaves is removed            TestDockerThroughMCP, TestDockerDeadSession
//	logs that survive the container                                         TestDockerRunsCommands, TestDockerDeadSession
//	health: what keeps a live container in bounds                           TestDockerDoctor
//	what is in the image                                                    TestDockerTools
//	the agent is told where it works                                        TestDockerThroughMCP

// TestDockerRunsCommands: a command runs in a container; its two streams, its status and its files come out as they are.
func TestDockerRunsCommands(t *testing.T) {
	t.Parallel()
	s := dockerSite(t, runtimeImage())
	c := s.config("c", "")
	r := s.do(c, "exec", "-c", `echo out; echo err >&2; test -e /.dockerenv && echo inside; exit 3`)
	if r.code != 3 || r.stdout != "out\ninside\n" || !strings.HasPrefix(r.stderr, "err\n") {
		t.Errorf("%+v", r)
	}
	// The container went with its session, at once, and its log stays.
	all := s.list(c)
	if len(all) != 1 || all[0].State != "gone" || all[0].Container != "" {
		t.Errorf("after the session: %+v", all)
	}
	log := s.do(c, "env", "logs", all[0].Name).stdout
	for _, want := range []string{"runner docker, agent agent", "image " + runtimeImage(), "exit 3 after", "  | out\n", "  ! err\n", "closed"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not say %q:\n%s", want, log)
		}
	}
}

// TestDockerPersists: what is installed and written stays from command to command of a session.
func TestDockerPersists(t *testing.T) {
	t.Parallel()
	s := dockerSite(t, runtimeImage())
	c := s.config("c", "keep: true")
	wheel(t, filepath.Join(s.workspace, "hello_sally-1.0-py3-none-any.whl"), "hello_sally", "print('hello from a wheel')\n")
	s.give(s.workspace)
	if r := s.do(c, "exec", "--", "python", "-m", "hello_sally"); r.code == 0 {
		t.Fatalf("it is there before it is installed: %+v", r)
	}
	s.sh(c, "pip install --no-index --quiet ./hello_sally-1.0-py3-none-any.whl && echo kept > ~/note")
	if out := s.sh(c, "python -m hello_sally; cat ~/note"); out != "hello from a wheel\nkept\n" {
		t.Errorf("in the next command, of another process: %q", out)
	}
	// Another session has a container of its own.
	if r := s.do(c, "exec", "--session", "other", "--", "python", "-m", "hello_sally"); r.code == 0 {
		t.Errorf("another session has it too: %+v", r)
	}
	if all := s.list(c); len(all) != 2 || all[0].State != "stopped" || all[1].State != "stopped" {
		t.Errorf("%+v", all)
	}
}

// TestDockerStoppedContainer: one that was stopped from outside is started again, and one that was removed is made again.
func TestDockerStoppedContainer(t *testing.T) {
	t.Parallel()
	s := dockerSite(t, runtimeImage())
	c := s.config("c", "keep: true")
	wheel(t, filepath.Join(s.workspace, "hello_sally-1.0-py3-none-any.whl"), "hello_sally", "print('kept')\n")
	s.give(s.workspace)
	s.sh(c, "pip install --no-index --quiet ./hello_sally-1.0-py3-none-any.whl")
	id := s.list(c)[0].Container
	s.engine("stop", "--time", "1", id)
	if all := s.list(c); all[0].State != "stopped" {
		t.Errorf("%+v", all)
	}
	if out := s.sh(c, "python -m hello_sally"); out != "kept\n" {
		t.Errorf("after a stop: %q", out)
	}
	s.engine("rm", "--force", id)
	if out := s.sh(c, "python -m hello_sally 2>/dev/null || echo anew"); out != "anew\n" {
		t.Errorf("after a removal: %q", out)
	}
	if now := s.list(c)[0].Container; now == id {
		t.Error("it is the same container")
	}
}

// TestDockerTwoAgents: two agents have a container each, and neither sees the other's workspace.
func TestDockerTwoAgents(t *testing.T) {
	t.Parallel()
	s := dockerSite(t, runtimeImage())
	other := filepath.Join(s.home, "other")
	s.write(filepath.Join(other, "theirs"), "secret of the other\n")
	s.give(other)
	s.write(filepath.Join(s.workspace, "ours"), "secret of the one\n")
	// Monitor mode lets pass what policies would refuse: here the kernel has to say no.
	one := s.config("one", "keep: true", "agent: one", "mode: monitor")
	two := filepath.Join(s.home, "two.yaml")
	text := strings.NewReplacer(s.workspace, other, "agent: one", "agent: two").Replace(s.reads(one))
	s.write(two, text)
	if err := os.Chmod(two, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ config, own, theirs string }{
		{one, filepath.Join(s.workspace, "ours"), filepath.Join(other, "theirs")},
		{two, filepath.Join(other, "theirs"), filepath.Join(s.workspace, "ours")},
	} {
		if out := s.sh(tc.config, "cat "+tc.own); !strings.HasPrefix(out, "secret of") {
			t.Errorf("its own: %q", out)
		}
		r := s.do(tc.config, "exec", "-c", "cat "+tc.theirs+"; echo x > "+tc.theirs+"; ls "+filepath.Dir(tc.theirs))
		if r.code == 0 || strings.Contains(r.stdout, "secret") || !strings.Contains(r.stderr, "No such file or directory") {
			t.Errorf("the other's: %+v", r)
		}
	}
	if s.reads(filepath.Join(other, "theirs")) != "secret of the other\n" || s.reads(filepath.Join(s.workspace, "ours")) != "secret of the one\n" {
		t.Error("a file of the other was changed")
	}
	if all := s.list(one); len(all) != 2 || all[0].Container == all[1].Container {
		t.Errorf("%+v", all)
	}
}

// TestDockerLimits: memory and processors are those of the configuration, as the engine has them.
func TestDockerLimits(t *testing.T) {
	t.Parallel()
	s := dockerSite(t, runtimeImage())
	c := s.config("c", "keep: true, memory: 512m, cpus: 1.0, pids: 123")
	if out := s.sh(c, "echo works; cat /sys/fs/cgroup/pids.max /sys/fs/cgroup/pids/pids.max 2>/dev/null || true"); !strings.HasPrefix(out, "works\n") || !strings.Contains(out, "123") {
		t.Errorf("%q", out)
	}
	got := s.engine("inspect", "--format", "{{.HostConfig.Memory}} {{.HostConfig.MemorySwap}} {{.HostConfig.NanoCpus}} {{.HostConfig.PidsLimit}}", s.list(c)[0].Container)
	if got != "536870912 536870912 1000000000 123" {
		t.Errorf("the engine has %s", got)
	}
	for docker, want := range map[string]string{
		"memory: lots": "docker.memory", "cpus: -1": "docker.cpus", "network: magic": "docker.network", "credentials: {mount: [aws_keys]}": "docker.credentials.mount",
		"mounts: [{source: /nowhere/at/all}]": "docker.mounts",
	} {
		if r := s.do(s.config("bad", docker), "exec", "--", "true"); r.code != 125 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %+v", docker, r)
		}
	}
	if r := s.do(s.config("bad", "", "runner: podman"), "exec", "--", "true"); r.code != 125 || !strings.Contains(r.stderr, "runner") {
		t.Errorf("a runner that is not there: %+v", r)
	}
}

// TestDockerNetwork: without network nothing is reached; with that of the host the same command reaches it.
func TestDockerNetwork(t *testing.T) {
	t.Parallel()
	s := dockerSite(t, runtimeImage())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	reach := fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%s && echo reached", port)
	lo := "ls /sys/class/net"
	if out := s.sh(s.config("host", "network: host", "mode: monitor"), reach); out != "reached\n" {
		t.Errorf("with the network of the host: %q", out)
	}
	none := s.config("none", "network: none, keep: true", "mode: monitor")
	if r := s.do(none, "exec", "-c", reach); r.code == 0 || r.stdout != "" {
		t.Errorf("without network: %+v", r)
	}
	if out := s.sh(none, lo); out != "lo\n" {
		t.Errorf("interfaces: %q", out)
	}
	if out := s.sh(s.config("bridge", "network: bridge", "mode: monitor"), lo); !strings.Contains(out, "eth0") {
		t.Errorf("interfaces of a bridge: %q", out)
	}
}

// TestDockerTimeout: a command that runs too long is ended, with all that it started, in the container too.
func TestDockerTimeout(t *testing.T) {
	t.Parallel()
	s := dockerSite(t, runtimeImage())
	c := s.config("c", "")
	r := s.do(c, "exec", "--timeout", "1s", "--format", "json", "-c", "sleep 300")
	if r.code != 124 || !strings.Contains(r.stdout, `"timed_out":true`) {
		t.Errorf("%+v", r)
	}
	m := s.serve(c) // whose container stays up
	m.greet()
	const text = "(trap '' TERM; sleep 300) & setsid sleep 300 & echo up; sleep 300"
	for limit := 1; ; limit *= 2 { // a slow machine gets more time to start all of it
		r := m.call("execute_command", map[string]any{"command": text, "timeout": limit}).Structured
		if r.Success {
			t.Errorf("%+v", r)
		}
		if r.Success || r.Stdout == "up\n" {
			break
		}
	}
	if out := s.engine("top", s.running(c), "-eo", "pid,args"); strings.Contains(out, "sleep") {
		t.Errorf("still there:\n%s", out)
	}
	m.quit()
}
