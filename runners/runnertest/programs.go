package runnertest

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
)

// Programs tries an environment that asks about programs: one starts if it is allowed, and not otherwise, and
// the shell that wanted it goes on.
func Programs(t *testing.T, env engine.Environment, workspace string) {
	t.Helper()
	told := env.(interface{ Shortcomings() []string }).Shortcomings()
	if !env.(engine.Seer).SeesPrograms() {
		t.Fatalf("programs are not seen: %v", told)
	}
	for _, refuse := range []string{"", "cat"} {
		c, err := env.Prepare("echo x > f; sh -c 'cat f; echo on'; env true", workspace)
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var started []string
		c.ID, c.Timeout, c.Output = "D-programs", time.Hour, 1<<16
		c.MayStart = func(p engine.Program) engine.Verdict {
			mu.Lock()
			defer mu.Unlock()
			name := filepath.Base(p.Argv[0])
			started = append(started, name)
			return engine.Verdict{May: name != refuse}
		}
		p, err := env.Start(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		x := p.Wait()
		if x.Error != nil || x.Code != 0 || !strings.HasSuffix(x.Stdout.Text, "on\n") ||
			strings.HasPrefix(x.Stdout.Text, "x\n") == (refuse == "cat") {
			t.Errorf("%+v", x)
		}
		if got := slices.Compact(started); !slices.Equal(got, []string{"sh", "cat", "env", "true"}) {
			t.Errorf("asked about %q", got)
		}
	}
}
