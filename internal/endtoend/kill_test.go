package endtoend

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/await"
)

// TestSuddenDeath kills the program with SIGKILL around the start of its command: at once, after the log has
// grown, and after the command has run, each time some looks later. The log must verify up to that point,
// and it must hold the decision of each command that ran.
func TestSuddenDeath(t *testing.T) {
	t.Parallel()
	workspace, env := home(t)
	if r := run(t, workspace, env, program, "exec", "--", "true"); r.code != 0 {
		t.Fatalf("exec true: %+v", r)
	}
	logs := filepath.Join(filepath.Dir(workspace), ".local/state/sallyport/audit/*.jsonl")
	logged := func() (bytes int64) {
		files, _ := filepath.Glob(logs)
		for _, file := range files {
			if info, err := os.Stat(file); err == nil {
				bytes += info.Size()
			}
		}
		return bytes
	}
	if logged() == 0 {
		t.Fatal("the log is elsewhere")
	}
	ran := 0
	const kills = 15
	for i := range kills {
		mark := filepath.Join(workspace, "ran-"+strings.Repeat("i", i+1))
		there := func() bool { _, err := os.Stat(mark); return err == nil }
		before := logged()
		cmd := exec.Command(program, "exec", "-c", "touch "+filepath.Base(mark))
		cmd.Dir, cmd.Env = workspace, env
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		switch i % 3 {
		case 1:
			await.True(t, "the log grows", func() bool { return logged() > before })
		case 2:
			await.True(t, "the command runs", there)
		}
		for range rand.IntN(2000) {
			there()
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		deserted(t, filepath.Dir(workspace)) // its command may outlive it
		if !there() {
			continue
		}
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
	if ran < kills/3 {
		t.Errorf("%d of %d killed commands ran: fewer than were seen to run", ran, kills)
	}
}
