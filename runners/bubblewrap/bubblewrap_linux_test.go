//go:build amd64 || arm64

package bubblewrap_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/internal/testprogram"
	"github.com/sallyport-dev/sallyport/runners/bubblewrap"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
)

// program is the supervisor that is tested. $SALLYPORT_TEST_SUPERVISOR names one, for where there is no
// compiler (as for an ordinary user in CI); else TestMain builds it.
var program = os.Getenv("SALLYPORT_TEST_SUPERVISOR")

// stateName and workspaceName hold the directories of a gateway that is killed, wrapperName what it takes
// for bwrap.
const (
	wrapperName   = "SALLYPORT_BUBBLEWRAP_TEST_WRAPPER"
	stateName     = "SALLYPORT_BUBBLEWRAP_TEST_STATE"
	workspaceName = "SALLYPORT_BUBBLEWRAP_TEST_WORKSPACE"
)

func TestMain(m *testing.M) {
	runnertest.Gateway("bubblewrap", func() (engine.Environment, error) {
		return try(options(""), facts.Layout{Home: "/home/agent"})
	})
	runnertest.Gateway("workspace", func() (engine.Environment, error) {
		return try(options(os.Getenv(stateName)), layout(os.Getenv(workspaceName)))
	})
	if at := os.Getenv(wrapperName); at != "" {
		o := options("")
		o.Bwrap = at
		_, err := try(o, facts.Layout{Home: "/home/agent"})
		panic(fmt.Sprint("it is to be killed meanwhile: ", err))
	}
	os.Exit(func() int {
		defer func() { _ = os.RemoveAll(template()) }()
		if program != "" {
			return m.Run()
		}
		return testprogram.Main(m, func(dir string) {
			program = filepath.Join(dir, "sallyport-supervisor")
			// For the gateways that tests start.
			if err := os.Setenv("SALLYPORT_TEST_SUPERVISOR", program); err != nil {
				panic(err)
			}
		}, "cmd/sallyport-supervisor")
	}())
}

// settings are those of most tests, for a home that is not there outside.
func settings(t testing.TB) bubblewrap.Options {
	t.Helper()
	leftout.Command(t, "bwrap")
	return options(t.TempDir())
}

func options(state string) bubblewrap.Options {
	return bubblewrap.Options{
		Supervisor: program, State: state,
		Environ: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/home/agent", "USER=agent", "LANG=C.UTF-8"},
	}
}

// layout is that of a workspace.
func layout(workspace string, more ...facts.Root) facts.Layout {
	roots := append([]facts.Root{{Path: workspace, Write: true, Zone: "workspace"}}, more...)
	return facts.Layout{Workspace: workspace, Home: "/home/agent", Temporary: []string{"/tmp", "/var/tmp"}, Roots: roots}
}

func try(o bubblewrap.Options, l facts.Layout) (engine.Environment, error) {
	r, err := bubblewrap.New(o)
	if err != nil {
		return nil, err
	}
	return r.Open(context.Background(), engine.EnvironmentSpec{Layout: l})
}

// open opens a sandbox that the test closes.
func open(t testing.TB, o bubblewrap.Options, l facts.Layout) engine.Environment {
	t.Helper()
	env, err := try(o, l)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func TestConformance(t *testing.T) {
	probe := open(t, settings(t), layout(t.TempDir()))
	limits := probe.(interface{ Made() map[string]any }).Made()["limits"].(map[string]any)
	if err := probe.Close(); err != nil {
		t.Error(err)
	}
	// Memory is bounded where a control group can be made: as root always.
	group := limits["group_memory"].(bool)
	if !group && os.Getuid() == 0 {
		t.Error("root cannot make a control group")
	}
	runnertest.RunIn(t, runnertest.Options{Memory: group, Processes: true, Gateway: "bubblewrap"}, func(t *testing.T) engine.Environment {
		o := settings(t)
		o.PIDs, o.Memory = 400, 600<<20
		return open(t, o, layout(t.TempDir()))
	})
}

// TestSameListing: nothing of sallyport appears in a workspace.
func TestSameListing(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	runnertest.SameListing(t, ws, func(t *testing.T) engine.Environment { return open(t, settings(t), layout(ws)) })
}

// start runs a text as the gate would.
func start(env engine.Environment, text string, vars ...string) (engine.Process, error) {
	c, err := env.Prepare(text, "/")
	if err != nil {
		return nil, err
	}
	c.ID, c.Timeout, c.Grace, c.Output = fmt.Sprintf("D-%d", rand.Int64()), await.Guard, 300*time.Millisecond, 1<<16
	c.Env = append(c.Env, vars...)
	return env.Start(context.Background(), c)
}

// run waits for a text.
func run(t testing.TB, env engine.Environment, text string, vars ...string) engine.Exit {
	t.Helper()
	p, err := start(env, text, vars...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p.Wait()
}

// The results of the trial are facts for policies.
func TestConfinementIsTold(t *testing.T) {
	t.Parallel()
	for network, connect := range map[string]string{"none": facts.Holds, "host": facts.Open} {
		o := settings(t)
		o.Network = network
		r, err := bubblewrap.New(o)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Describe().Confinement; got != (facts.Confinement{}) {
			t.Errorf("before a sandbox: %+v", got)
		}
		env, err := r.Open(t.Context(), engine.EnvironmentSpec{Layout: layout(t.TempDir())})
		if err != nil {
			t.Fatal(err)
		}
		if err := env.Close(); err != nil {
			t.Error(err)
		}
		want := facts.Confinement{Write: facts.Holds, Read: facts.Holds, Connect: connect}
		if got := r.Describe().Confinement; got != want {
			t.Errorf("network %s: %+v, want %+v", network, got, want)
		}
	}
}

// Root is told of a workspace that its commands cannot write to.
func TestForeignWorkspace(t *testing.T) {
	t.Parallel()
	leftout.NeedRoot(t)
	for _, owner := range []int{0, 1000} {
		ws := t.TempDir()
		if err := os.Chown(ws, owner, owner); err != nil {
			t.Fatal(err)
		}
		r, err := bubblewrap.New(settings(t))
		if err != nil {
			t.Fatal(err)
		}
		var noticed []string
		r.Notify(func(text string) { noticed = append(noticed, text) })
		env, err := r.Open(t.Context(), engine.EnvironmentSpec{Layout: layout(ws)})
		if err != nil {
			t.Fatal(err)
		}
		wanting := strings.Join(env.(interface{ Shortcomings() []string }).Shortcomings(), "\n")
		writes := run(t, env, "touch "+ws+"/made").Code == 0
		for _, told := range []string{wanting, strings.Join(noticed, "\n")} {
			if writes != (owner == 0) || strings.Contains(told, "cannot write to "+ws) == writes {
				t.Errorf("owner %d: a command writes: %v; told: %q", owner, writes, told)
			}
		}
		if err := env.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestMachineIsHidden: the files of /proc that describe the machine cannot be read, those of a process can.
func TestMachineIsHidden(t *testing.T) {
	t.Parallel()
	env := open(t, settings(t), layout(t.TempDir()))
	defer env.Close()
	for _, p := range []string{"/proc/keys", "/proc/key-users", "/proc/cmdline", "/proc/config.gz"} {
		if _, err := os.ReadFile(p); err != nil {
			continue // nor can we
		}
		if x := run(t, env, "cat "+p); x.Code == 0 || x.Stdout.Text != "" {
			t.Errorf("%s: %+v", p, x)
		}
	}
	if x := run(t, env, "cat /proc/self/cmdline /proc/meminfo"); x.Code != 0 {
		t.Errorf("%+v", x)
	}
}
