package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/internal/testprogram"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
	"github.com/sallyport-dev/sallyport/runners/supervisor"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// program is the supervisor that is tested, where everybody can run it.
var program string

// built names the program to processes that the tests start of their own binary.
const built = "SALLYPORT_SUPERVISOR_TEST_PROGRAM"

func TestMain(m *testing.M) {
	program = os.Getenv(built)
	runnertest.Gateway("user", func() (engine.Environment, error) {
		return greet(lessThanRoot(narrow), wire.Settings{User: &someone, Home: "/", NoSetID: true})
	})
	os.Exit(testprogram.Main(m, func(dir string) {
		program = filepath.Join(dir, "sallyport-supervisor")
		if err := os.Setenv(built, program); err != nil {
			panic(err)
		}
	}, "cmd/sallyport-supervisor"))
}

// someone is a user that no file of this machine belongs to.
var someone = wire.User{UID: 64_123, GID: 64_124, Groups: []int{64_125}}

// narrow are the capabilities that a supervisor in a container keeps, and wide those of one whose commands
// may become root.
const (
	narrow = "-all,+setuid,+setgid,+kill"
	wide   = narrow + ",+chown,+dac_override,+fowner"
)

// asRoot opens an environment of a supervisor that is root with few capabilities.
func asRoot(t testing.TB, capabilities string, s wire.Settings) *wire.Environment {
	t.Helper()
	env, err := tryRoot(t, capabilities, s)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func tryRoot(t testing.TB, capabilities string, s wire.Settings) (*wire.Environment, error) {
	t.Helper()
	leftout.NeedRoot(t)
	leftout.Command(t, "setpriv")
	return greet(lessThanRoot(capabilities), s)
}

// lessThanRoot is the command line of a supervisor that is root with few capabilities.
func lessThanRoot(capabilities string) []string {
	return []string{"setpriv", "--bounding-set=" + capabilities, "--inh-caps=-all", program}
}

// greet opens an environment of the supervisor to which a command line leads.
func greet(command []string, s wire.Settings) (*wire.Environment, error) {
	p, err := supervisor.OpenProgram(command, os.Environ(), "")
	if err != nil {
		return nil, err
	}
	return wire.Connect(context.Background(), p, wire.Options{Settings: s, Explain: p.Explain})
}

// A place like a container: another user, few capabilities, limits.
func TestConformanceAsUser(t *testing.T) {
	home := homeOf(t, someone)
	// A bomb reaches the limit of processes long before that of memory, which would end its shell too.
	within := limited(t, 600<<20, 400)
	o := runnertest.Options{Memory: true, Processes: true, Gateway: "user"}
	o.Parts = []string{"surroundings", "refusals", "signals", "terminal", "escapes", "many", "files", "memory", "processes", "gateway"} // what the user changes
	runnertest.RunIn(t, o, func(t *testing.T) engine.Environment {
		leftout.Command(t, "setpriv")
		env, err := greet(append(within, lessThanRoot(narrow)...), wire.Settings{User: &someone, Home: home, NoSetID: true})
		if err != nil {
			t.Fatal(err)
		}
		return env
	})
}

// homeOf makes a directory of a user that nobody else can enter, in one that everybody can.
func homeOf(t testing.TB, u wire.User) string {
	t.Helper()
	leftout.NeedRoot(t)
	base, err := os.MkdirTemp("", "sallyport-home-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	home := filepath.Join(base, "home")
	for _, err := range []error{os.Chmod(base, 0o755), os.Mkdir(home, 0o700), os.Chown(home, u.UID, u.GID)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// run runs a text as the gate would.
func do(t testing.TB, env engine.Environment, c engine.Command) engine.Exit {
	t.Helper()
	p, err := begin(env, c)
	if err != nil {
		t.Fatal(err)
	}
	return p.Wait()
}

func begin(env engine.Environment, c engine.Command) (engine.Process, error) {
	if c.WorkDir == "" {
		c.WorkDir = "/"
	}
	made, err := env.Prepare(c.Text, c.WorkDir)
	if err != nil {
		return nil, err
	}
	made.Elevated, made.MayMake = c.Elevated, c.MayMake
	made.ID, made.Timeout, made.Grace, made.Output = fmt.Sprintf("D-%d", rand.Int64()), time.Hour, 100*time.Millisecond, 1<<16
	return env.Start(context.Background(), made)
}
