package command_test

import (
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/command"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
)

// A supervisor behind a command line asks about programs, too.
func TestPrograms(t *testing.T) {
	t.Parallel()
	env := open(t, command.Options{Command: []string{program}, Programs: true})
	defer env.Close()
	if !env.(engine.Seer).SeesPrograms() {
		lack := env.(interface{ Shortcomings() []string }).Shortcomings()
		leftout.Skip(t, leftout.Platform, strings.Join(lack, "; "))
	}
	runnertest.Programs(t, env, t.TempDir())
}
