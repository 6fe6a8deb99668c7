package docker

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/internal/testprogram"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
)

// program under test: the supervisor that TestMain builds.
var supervisorFile string

func TestMain(m *testing.M) {
	for _, name := range []string{"docker", "docker-sudo"} {
		runnertest.Gateway(name, openHandedDown)
	}
	flag.Parse()
	os.Exit(func() int {
		if testing.Short() { // there are no containers in a short run
			return m.Run()
		}
		_ = os.Setenv("GOOS", "linux") // that of containers
		return testprogram.Main(m, func(dir string) {
			supervisorFile = filepath.Join(dir, "sallyport-supervisor")
		}, "cmd/sallyport-supervisor")
	}())
}

// testImage is what containers of tests are made from.
func testImage() string {
	if named := os.Getenv("SALLYPORT_TEST_IMAGE"); named != "" {
		return named
	}
	return RuntimeImage
}

// testSudoImage is the same for docker-sudo.
func testSudoImage() string {
	if named := os.Getenv("SALLYPORT_TEST_SUDO_IMAGE"); named != "" {
		return named
	}
	return RuntimeSudoImage
}

// lab is a workspace and a state directory of one test, with an engine.
type lab struct {
	t         testing.TB
	workspace string
	o         Options
}

// newLab skips the test where there is no engine or no image. Its containers are gone after the test.
func newLab(t testing.TB) *lab {
	t.Helper()
	return newLabOf(t, Options{Image: testImage()})
}

func newLabOf(t testing.TB, o Options) *lab {
	t.Helper()
	leftout.NeedDocker(t, o.Image)
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, workspace: filepath.Join(root, "workspace")}
	must(t, os.Chmod(root, 0o755))
	must(t, os.Mkdir(l.workspace, 0o755))
	if os.Geteuid() == 0 {
		must(t, os.Chown(l.workspace, 1000, 1000))
	}
	o.Environ, o.Home, o.Supervisor, o.State = os.Environ(), os.Getenv("HOME"), supervisorFile, filepath.Join(root, "state")
	l.o = o
	e, err := Connect(context.Background(), l.o)
	must(t, err)
	t.Cleanup(func() {
		left, err := e.list(context.Background())
		if err != nil {
			t.Errorf("list what is left: %v", err)
		}
		for _, c := range left {
			if err := e.discard(context.Background(), c.ID); err != nil {
				t.Errorf("remove %s: %v", c.Name, err)
			}
		}
		if err := e.pruneVolumes(context.Background()); err != nil {
			t.Error(err)
		}
		_ = e.Close()
	})
	return l
}

// spec is what a gate asks for.
func (l *lab) spec() engine.EnvironmentSpec {
	return engine.EnvironmentSpec{Agent: "tester", Session: "s1", Layout: facts.Layout{
		Workspace: l.workspace,
		Roots:     []facts.Root{{Path: l.workspace, Write: true, Zone: "workspace"}},
	}}
}

func (l *lab) runner() *Runner {
	l.t.Helper()
	r, err := New(l.o)
	must(l.t, err)
	return r
}

// open opens an environment that the caller closes.
func (l *lab) open(spec engine.EnvironmentSpec) *environment {
	l.t.Helper()
	env, err := l.runner().Open(context.Background(), spec)
	must(l.t, err)
	return env.(*environment)
}

// run runs a text in the workspace to its end.
func run(t testing.TB, env engine.Environment, dir, text string) engine.Exit {
	t.Helper()
	c, err := env.Prepare(text, dir)
	must(t, err)
	c.ID, c.Timeout, c.Grace, c.Output = "D-test", await.Guard, 300*time.Millisecond, 1<<20
	p, err := env.Start(context.Background(), c)
	must(t, err)
	return p.Wait()
}

// elevated runs a text that was judged to be allowed more rights.
func elevated(t testing.TB, env engine.Environment, dir, text string) engine.Exit {
	t.Helper()
	c, err := env.Prepare(text, dir)
	must(t, err)
	c.ID, c.Timeout, c.Grace, c.Output, c.Elevated = "D-test", await.Guard, 300*time.Millisecond, 1<<20, true
	p, err := env.Start(context.Background(), c)
	must(t, err)
	return p.Wait()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// handedDown is what a process that is to be killed opens the same environment from.
type handedDown struct {
	Options   Options
	Workspace string
}

const handedDownIn = "SALLYPORT_TEST_HANDED_DOWN"

func (l *lab) handDown(t *testing.T) {
	t.Helper()
	text, err := json.Marshal(handedDown{l.o, l.workspace})
	must(t, err)
	t.Setenv(handedDownIn, string(text))
}

func openHandedDown() (engine.Environment, error) {
	var h handedDown
	if err := json.Unmarshal([]byte(os.Getenv(handedDownIn)), &h); err != nil {
		return nil, err
	}
	r, err := New(h.Options)
	if err != nil {
		return nil, err
	}
	return r.Open(context.Background(), (&lab{workspace: h.Workspace}).spec())
}

// conforms runs the suite in containers with limits that are soon reached.
func (l *lab) conforms(t *testing.T) {
	t.Helper()
	l.o.Memory, l.o.PIDs = 600<<20, 400
	l.o.Environ = slices.DeleteFunc(l.o.Environ, func(kv string) bool { return !strings.HasPrefix(kv, "DOCKER") })
	l.handDown(t)
	runnertest.RunIn(t, runnertest.Options{Memory: true, Processes: true, Gateway: l.runner().o.name()}, func(*testing.T) engine.Environment {
		return l.open(l.spec())
	})
}

func TestConformance(t *testing.T) { newLab(t).conforms(t) }

// TestSameListing: nothing of sallyport appears in a workspace.
func TestSameListing(t *testing.T) {
	t.Parallel()
	for _, l := range []*lab{newLab(t), newSudoLab(t)} {
		runnertest.SameListing(t, l.workspace, func(*testing.T) engine.Environment { return l.open(l.spec()) })
	}
}
