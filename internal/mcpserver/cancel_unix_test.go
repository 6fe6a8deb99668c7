//go:build unix

package mcpserver

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/internal/await"
)

// TestCancellationEndsTheTree: the command's child as well, and the record says why.
func TestCancellationEndsTheTree(t *testing.T) {
	t.Parallel()
	world := newWorld(t, "", nil)
	w := connect(t, world.Server)
	id := w.send(t, "tools/call", map[string]any{"name": "execute_command", "arguments": map[string]any{
		"command": "sleep 1000 & echo $! > pid.tmp; mv pid.tmp pid; wait",
	}})
	await.True(t, "it has started", func() bool { return world.has("pid") })
	text, err := os.ReadFile(filepath.Join(world.dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("the child does not run before it is cancelled: %v", err)
	}
	w.say(t, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
	w.end(t)
	if err := syscall.Kill(pid, 0); err == nil {
		t.Error("the child is left")
	}
	for m := range w.got {
		t.Errorf("a cancelled call was answered: %+v", m)
	}
	killed := ""
	for e, err := range audit.Read(string(world.loaded.Audit.Dir), audit.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind != "outcome" {
			continue
		}
		b, err := e.Outcome()
		if err != nil {
			t.Fatal(err)
		}
		killed = b.Killed
	}
	if killed != "cancelled" {
		t.Errorf("on record: killed %q", killed)
	}
}
