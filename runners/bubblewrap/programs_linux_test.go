//go:build amd64 || arm64

package bubblewrap_test

import (
	"testing"

	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
)

func TestPrograms(t *testing.T) {
	t.Parallel()
	leftout.Command(t, "bwrap")
	o := settings(t)
	o.Programs = true
	ws := t.TempDir()
	env := open(t, o, layout(ws))
	runnertest.Programs(t, env, ws)
	if err := env.Close(); err != nil {
		t.Error(err)
	}
}
