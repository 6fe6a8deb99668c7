// Package leftout skips tests that this machine, or this run, cannot carry out, and names the cause.
//
// It is for tests only. `go test -short` is the run of `make test`: everything that needs neither root nor
// Docker, npm packages or a long time. Without -short, `go test` runs all tests that the machine can run.
// Every skip has one of a few causes, so that a report can count them and name the packages to install. With
// SALLYPORT_TEST_COMPLETE=1 a test fails where the machine, not the run, is the cause, unless nothing that
// can be installed helps. Tests with a cluster have a run of their own, make kubernetes-test, which leaves
// none out.
package leftout

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Cause is the reason for a skip, with its remedy. A report groups skipped tests by it.
type Cause string

// The causes. The first four are part of the full run alone.
const (
	Slow       Cause = "loads the machine or takes long: make test-all"
	Docker     Cause = "needs Docker: start an engine, then make images test-all"
	Root       Cause = "needs root: make test-all, in a throw-away virtual machine"
	Packages   Cause = "needs npm packages: make mcp-clients opa-wasm test-all"
	Bubblewrap Cause = "needs bubblewrap: install bubblewrap, and allow unprivileged user namespaces"
	Programs   Cause = "needs other programs: install those that the list names"
	Platform   Cause = "needs another operating system, file system or kernel"
	Processor  Cause = "needs a processor that also runs programs of an older architecture"
	Cluster    Cause = "needs a Kubernetes cluster: make kubernetes-test"
)

// Skip skips the test. The detail says which part of the cause applies, such as the program that is absent.
func Skip(t testing.TB, cause Cause, detail string) {
	t.Helper()
	if os.Getenv("SALLYPORT_TEST_COMPLETE") == "1" && !cause.otherRun() {
		t.Fatalf("nothing may be left out here, but: %s: %s", cause, detail)
	}
	t.Skipf("left out: %s (%s)", cause, strings.ReplaceAll(strings.TrimSpace(detail), "\n", " "))
}

// otherRun says whether another run than this one has the test, that of another machine if it is Processor.
func (c Cause) otherRun() bool {
	switch c {
	case Processor:
		return true
	case Cluster:
		return os.Getenv("SALLYPORT_TEST_KUBECONFIG") == ""
	}
	return testing.Short() && (c == Slow || c == Docker || c == Root || c == Packages)
}

// Full skips the test in a short run. The cause is one of Slow, Docker, Root and Packages.
func Full(t testing.TB, cause Cause) {
	t.Helper()
	if testing.Short() {
		Skip(t, cause, "in the full run")
	}
}

// NeedRoot skips the test in a short run, and where it does not run as root.
func NeedRoot(t testing.TB) {
	t.Helper()
	Full(t, Root)
	if os.Geteuid() != 0 {
		Skip(t, Root, "another user runs this")
	}
}

// NeedDocker returns the path of the docker client. It skips the test in a short run, and where no engine
// answers or one of the images is missing.
func NeedDocker(t testing.TB, images ...string) string {
	t.Helper()
	Full(t, Docker)
	docker, err := exec.LookPath("docker")
	if err != nil {
		Skip(t, Docker, "no docker client on PATH")
	}
	if out, err := exec.Command(docker, "version").CombinedOutput(); err != nil {
		Skip(t, Docker, "no engine answers: "+string(out))
	}
	for _, image := range images {
		if out, err := exec.Command(docker, "image", "inspect", "--format", "{{.Id}}",
			image).CombinedOutput(); err != nil {
			Skip(t, Docker, "no image "+image+": "+string(out))
		}
	}
	return docker
}

// Command returns the path of a program, or skips the test. Bubblewrap must also be able to make a sandbox.
func Command(t testing.TB, name string) string {
	t.Helper()
	cause := Programs
	if name == "bwrap" {
		cause = Bubblewrap
	}
	path, err := exec.LookPath(name)
	if err != nil {
		Skip(t, cause, fmt.Sprintf("no %s on PATH", name))
	}
	if cause == Bubblewrap {
		if out, err := exec.Command(path, "--unshare-all", "--ro-bind", "/", "/",
			"true").CombinedOutput(); err != nil {
			Skip(t, cause, "it makes no sandbox: "+string(out))
		}
	}
	return path
}
