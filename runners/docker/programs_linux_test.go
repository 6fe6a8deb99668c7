package docker

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
)

func TestPrograms(t *testing.T) {
	t.Parallel()
	for name, made := range map[string]func(testing.TB) *lab{"docker": newLab, "docker-sudo": newSudoLab} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := made(t)
			l.o.Programs = true
			env := l.open(l.spec())
			defer env.Close()
			runnertest.Programs(t, env, l.workspace)
		})
	}
}

// TestProgramsBesideElevation holds that a program of an ordinary command is refused beside an elevated
// command, with programs that are not seen, and after it. The elevated command does as it says.
func TestProgramsBesideElevation(t *testing.T) {
	t.Parallel()
	l := newSudoLab(t)
	l.o.Programs = true
	env := l.open(l.spec())
	defer env.Close()
	var mu sync.Mutex
	var asked []string
	start := func(id, text string, elevated bool) engine.Process {
		c, err := env.Prepare(text, l.workspace)
		must(t, err)
		c.ID, c.Timeout, c.Output, c.Elevated = id, await.Guard, 1<<20, elevated
		if !elevated {
			c.MayStart = func(p engine.Program) engine.Verdict {
				mu.Lock()
				defer mu.Unlock()
				asked = append(asked, p.Argv[0])
				return engine.Verdict{May: p.Argv[0] != "touch"}
			}
		}
		p, err := env.Start(t.Context(), c)
		must(t, err)
		return p
	}
	const refused = "until [ -e /usr/local/began ]; do :; done; touch beside; echo $?"
	beside := start("D-beside", refused, false)
	if x := start("D-elevated", "sudo -n sh -c 'touch made /usr/local/began'", true).Wait(); x.Code != 0 {
		t.Errorf("elevated: %+v", x)
	}
	for _, x := range []engine.Exit{beside.Wait(), start("D-after", refused, false).Wait()} {
		if !strings.HasSuffix(x.Stdout.Text, "126\n") {
			t.Errorf("touch was not refused: %+v", x)
		}
	}
	says(t, env, l.workspace, "ls", "made")
	if got := slices.Compact(asked); !slices.Equal(got, []string{"touch"}) {
		t.Errorf("asked about %q", got)
	}
}
