package command_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/testprogram"
	"github.com/sallyport-dev/sallyport/runners/command"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
)

// program is the supervisor that is tested; TestMain builds it.
var program string

// theLine holds the words of the command line of a gateway that runnertest kills.
const theLine = "SALLYPORT_COMMAND_TEST_LINE"

func TestMain(m *testing.M) {
	runnertest.Gateway("line", func() (engine.Environment, error) {
		return try(command.Options{Command: strings.Fields(os.Getenv(theLine))})
	})
	os.Exit(testprogram.Main(m, func(dir string) { program = filepath.Join(dir, "sallyport-supervisor") },
		"cmd/sallyport-supervisor"))
}

// open opens an environment through a command line.
func open(t testing.TB, o command.Options) engine.Environment {
	t.Helper()
	env, err := try(o)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func try(o command.Options) (engine.Environment, error) {
	o.Name = "box"
	if o.Host == nil {
		o.Host = os.Environ()
	}
	r, err := command.New(o)
	if err != nil {
		return nil, err
	}
	return r.Open(context.Background(), engine.EnvironmentSpec{Layout: facts.Layout{}})
}

func write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
