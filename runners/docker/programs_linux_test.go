package docker

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
)

// A program in a container starts if the gate allows it, and not otherwise; undo still knows the changes.
func TestPrograms(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.o.Programs = true
	env := l.open(l.spec())
	defer env.Close()
	if !env.SeesPrograms() {
		t.Fatalf("programs are not seen: %v", env.Shortcomings())
	}
	for _, refuse := range []string{"", "cat"} {
		c, err := env.Prepare("echo x > f; sh -c 'cat f; echo on'; env true; id -u", l.workspace)
		must(t, err)
		var mu sync.Mutex
		var started []string
		c.ID, c.Timeout, c.Output = "D-programs", time.Hour, 1<<16
		c.MayStart = func(p engine.Program) bool {
			mu.Lock()
			defer mu.Unlock()
			name := filepath.Base(p.Argv[0])
			started = append(started, name)
			return name != refuse
		}
		p, err := env.Start(t.Context(), c)
		must(t, err)
		x := p.Wait()
		if x.Error != nil || x.Code != 0 || !strings.HasSuffix(x.Stdout.Text, "on\n1000\n") ||
			strings.HasPrefix(x.Stdout.Text, "x\n") == (refuse == "cat") {
			t.Errorf("%+v", x)
		}
		if got := slices.Compact(started); !slices.Equal(got, []string{"sh", "cat", "env", "true", "id"}) {
			t.Errorf("asked about %q", got)
		}
	}
}
