package docker

import (
	"testing"

	"github.com/sallyport-dev/sallyport/runners/runnertest"
)

func TestPrograms(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.o.Programs = true
	env := l.open(l.spec())
	defer env.Close()
	runnertest.Programs(t, env, l.workspace)
}
