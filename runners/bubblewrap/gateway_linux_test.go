//go:build amd64 || arm64

package bubblewrap_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
)

// Sallyport is killed without a chance to clean up: everything in the sandbox dies with it, and what it
// left in the workspace goes with the next session.
func TestDeathOfGateway(t *testing.T) {
	t.Parallel()
	leftout.Command(t, "bwrap", "install bubblewrap")
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		ws, state := repositories(t), t.TempDir()
		before := tree(t, ws)
		holder := runnertest.Hold(t, "workspace", time.Minute, stateName+"="+state, workspaceName+"="+ws)
		holder.End(t, signal)
		<-holder.Done()
		if len(tree(t, ws)) == len(before) {
			t.Error("no mask is left, so this shows nothing")
		}
		o := settings(t)
		o.State = state
		if err := open(t, o, layout(t.TempDir())).Close(); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(before, tree(t, ws)); diff != "" {
			t.Errorf("left behind after the next session (-want +got):\n%s", diff)
		}
	}
}

func killProcess(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}
