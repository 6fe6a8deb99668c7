package command_test

import (
	"cmp"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/command"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
)

// container starts one like that of docs/runners.md and returns the command line that leads into it.
func container(t *testing.T) []string {
	t.Helper()
	image := cmp.Or(os.Getenv("SALLYPORT_TEST_IMAGE"), "sallyport/runtime:latest")
	docker := leftout.NeedDocker(t, image)
	out, err := exec.Command(docker, "run", "--detach", "--rm", "--label", "dev.sallyport.test=command", "--network", "none",
		"--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--pids-limit", "300", "--memory", "256m", "--memory-swap", "256m",
		"--user", "1000:1000", "--read-only", "--tmpfs", "/tmp:mode=1777", "--tmpfs", "/home/agent:mode=1777", "--env", "HOME=/home/agent",
		"--volume", program+":/opt/sallyport-supervisor:ro", "--entrypoint", "/opt/sallyport-supervisor", image, "--init").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	id := strings.TrimSpace(string(out))
	t.Cleanup(func() {
		if out, err := exec.Command(docker, "rm", "--force", id).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	return []string{docker, "exec", "-i", id, "/opt/sallyport-supervisor"}
}

func TestDockerExec(t *testing.T) {
	words := container(t)
	t.Setenv(theLine, strings.Join(words, " "))
	o := runnertest.Options{Memory: true, Processes: true, Gateway: "line"}
	o.Parts = []string{"streams", "surroundings", "ends", "signals", "terminal", "escapes", "memory", "processes", "gateway"} // the rest is as over any stream
	runnertest.RunIn(t, o, func(t *testing.T) engine.Environment {
		return open(t, command.Options{Command: words, Isolation: "container", Network: "none"})
	})
}
