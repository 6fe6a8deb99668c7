package endtoend

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSuddenDeath kills the program with SIGKILL at moments spread around the one at which its command runs, wherever that is
// on a machine as slow as this one is now. Whatever it had written by then must verify, and no command may have run whose
// decision is not on record.
func TestSuddenDeath(t *testing.T) {
	t.Parallel()
	workspace, env := home(t)
	began := time.Now()
	if r := run(t, workspace, env, program, "exec", "--", "true"); r.code != 0 {
		t.Fatalf("exec true: %+v", r)
	}
	middle := time.Since(began) // about as many commands run as do not where the kills are around it

	const kills = 60
	ran := 0
	for i := range kills {
		mark := filepath.Join(workspace, "ran-"+strings.Repeat("i", i+1))
		cmd := exec.Command(program, "exec", "-c", "touch "+filepath.Base(mark))
		cmd.Dir, cmd.Env = workspace, env
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(float64(middle) * 2 * rand.Float64()))
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		// A shell that was started just before outlives its parent by a moment.
		time.Sleep(10 * time.Millisecond)
		if _, err := os.Stat(mark); err != nil {
			middle += middle / 8
			continue
		}
		middle -= middle / 8
		ran++
		log := run(t, workspace, env, program, "audit", "list", "--format", "json")
		if !strings.Contains(log.stdout, filepath.Base(mark)+`"`) {
			t.Errorf("kill %d: the command ran and its decision is not in the log", i)
		}
	}
	if r := run(t, workspace, env, program, "audit", "verify"); r.code != 0 {
		t.Errorf("the log does not verify: exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if r := run(t, workspace, env, program, "exec", "--", "true"); r.code != 0 {
		t.Errorf("the next command does not run: %+v", r)
	}
	if ran == 0 || ran == kills {
		t.Errorf("%d of %d killed commands ran: the kills were not spread around its start", ran, kills)
	}
}
