//go:build amd64 || arm64

package bubblewrap_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// A program in a sandbox starts if the gate allows it, and not otherwise.
func TestPrograms(t *testing.T) {
	t.Parallel()
	leftout.Command(t, "bwrap")
	o := settings(t)
	o.Programs = true
	ws := t.TempDir()
	env := open(t, o, layout(ws))
	told := env.(interface{ Shortcomings() []string }).Shortcomings()
	if !env.(engine.Seer).SeesPrograms() {
		t.Fatalf("programs are not seen: %v", told)
	}
	for _, refuse := range []string{"", "cat"} {
		c, err := env.Prepare("echo x > f; sh -c 'cat f; echo on'; env true", ws)
		if err != nil {
			t.Fatal(err)
		}
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
		p, err := env.Start(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		x := p.Wait()
		if x.Error != nil || x.Code != 0 || strings.HasPrefix(x.Stdout.Text, "x\n") == (refuse == "cat") {
			t.Errorf("%+v", x)
		}
		if got := slices.Compact(started); !slices.Equal(got, []string{"sh", "cat", "env", "true"}) {
			t.Errorf("asked about %q", got)
		}
	}
	if err := env.Close(); err != nil {
		t.Error(err)
	}
}
