package command_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/command"
)

// A supervisor behind a command line asks about programs, too.
func TestPrograms(t *testing.T) {
	t.Parallel()
	env := open(t, command.Options{Command: []string{program}, Programs: true})
	defer env.Close()
	if !env.(engine.Seer).SeesPrograms() {
		leftout.Skip(t, leftout.Platform, strings.Join(env.(interface{ Shortcomings() []string }).Shortcomings(), "; "))
	}
	c, err := env.Prepare("ls /; sh -c 'echo on'", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c.ID, c.Timeout, c.Output = "D-programs", time.Hour, 1<<16
	c.MayStart = func(p engine.Program) bool { return filepath.Base(p.File) != "ls" }
	p, err := env.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if x := p.Wait(); x.Code != 0 || x.Stdout.Text != "on\n" || !strings.Contains(x.Stderr.Text, "Permission denied") {
		t.Errorf("%+v", x)
	}
}
