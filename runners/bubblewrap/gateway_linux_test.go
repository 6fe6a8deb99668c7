//go:build amd64 || arm64

package bubblewrap_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
	"github.com/sallyport-dev/sallyport/runners/supervisor"
)

// Sallyport is killed without a chance to clean up: everything in the sandbox dies with it, and nothing is
// left in the workspace.
func TestDeathOfGateway(t *testing.T) {
	t.Parallel()
	leftout.Command(t, "bwrap")
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		ws := repositories(t)
		before := tree(t, ws)
		holder := runnertest.Hold(t, "workspace", time.Hour, stateName+"="+t.TempDir(), workspaceName+"="+ws)
		holder.End(t, signal)
		<-holder.Done()
		if diff := cmp.Diff(before, tree(t, ws)); diff != "" {
			t.Errorf("left behind (-want +got):\n%s", diff)
		}
	}
}

// Sallyport is killed while bwrap makes the sandbox: that goes on, finds nobody, and ends.
func TestDeathOfGatewayMeanwhile(t *testing.T) {
	t.Parallel()
	bwrap := leftout.Command(t, "bwrap")
	dir, tag := t.TempDir(), runnertest.NewTag()
	wrapper, open := filepath.Join(dir, "bwrap-"+tag), filepath.Join(dir, "open")
	runnertest.WriteProgram(t, wrapper, fmt.Appendf(nil, "#!/bin/bash\nread -r _ <%s\nexec -a %s %s \"$@\"\n", open, wrapper, bwrap), 0o755)
	if err := syscall.Mkfifo(open, 0o600); err != nil {
		t.Fatal(err)
	}
	gateway, err := supervisor.OpenProgram([]string{os.Args[0]}, append(os.Environ(), wrapperName+"="+wrapper), "")
	if err != nil {
		t.Fatal(err)
	}
	there := func(n int) func() bool {
		looks := 0
		return func() bool { // at several looks in a row: in an exec a process has no arguments for a moment
			if looks++; len(runnertest.Tagged(tag)) != n {
				looks = 0
			}
			return looks == 10
		}
	}
	await.True(t, "bwrap is started", there(1))
	killProcess(t, gateway.PID())
	<-gateway.Done()
	if len(runnertest.Tagged(tag)) != 1 {
		t.Error("bwrap died with sallyport, so this shows nothing")
	}
	f, err := os.OpenFile(open, os.O_RDWR, 0) // which does not wait for who reads
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("go\n"); err != nil {
		t.Fatal(err)
	}
	if !await.Holds(there(0)) {
		t.Error("what was to be the sandbox is still there")
		for _, pid := range runnertest.Tagged(tag) {
			killProcess(t, pid)
		}
	}
}

func killProcess(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}
