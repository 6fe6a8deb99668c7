package endtoend

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// Many processes begin at once with one log: none is refused, and each leaves a decision and an outcome.
func TestManyProcesses(t *testing.T) {
	t.Run("8", func(t *testing.T) { manyProcesses(t, 8) })
	t.Run("64", func(t *testing.T) {
		leftout.Full(t, leftout.Slow)
		manyProcesses(t, 64)
	})
}

func manyProcesses(t *testing.T, processes int) {
	t.Helper()
	home := t.TempDir()
	config, dir := filepath.Join(home, "sallyport.yaml"), filepath.Join(home, "state", "audit")
	text := fmt.Sprintf("version: 1\nworkspace: %s\naudit: {dir: %s}\nlocal: {sandbox: none}\n", t.TempDir(), dir)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range processes {
		all.Go(func() {
			cmd := exec.Command(program, "--config", config, "exec", "--", "true")
			cmd.Env = append(os.Environ(), "HOME="+home)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()
	r, err := audit.Verify(dir, audit.VerifyOptions{})
	if n := int64(processes); err != nil || !r.OK || r.Decisions != n || r.Outcomes != n || len(r.Orphans) > 0 {
		t.Errorf("%v, want %d decisions and outcomes:\n%s", err, n, r)
	}
}
