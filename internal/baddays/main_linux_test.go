package baddays

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
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
	"github.com/sallyport-dev/sallyport/runners/bubblewrap"
	"github.com/sallyport-dev/sallyport/runners/command"
	"github.com/sallyport-dev/sallyport/runners/docker"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
)

// supervisor is the program that TestMain builds.
var supervisor string

func TestMain(m *testing.M) {
	if at := os.Getenv(asUser); at != "" {
		os.Exit(beUser(at))
	}
	flag.Parse()
	os.Exit(func() int {
		if testing.Short() { // all tests are part of the full run
			return m.Run()
		}
		// The parallel tests wait for time limits. Those that load the machine are alone, and come first.
		if err := flag.Set("test.parallel", "8"); err != nil {
			panic(err)
		}
		return testprogram.Main(m, func(dir string) {
			supervisor = filepath.Join(dir, "sallyport-supervisor")
		}, "cmd/sallyport-supervisor")
	}())
}

// ordinary is the user to whom a workspace belongs where root tests.
const ordinary = 1000

// home is a workspace with what a runner needs beside it.
type home struct {
	workspace, state string
}

func newHome(t testing.TB) *home {
	t.Helper()
	base := t.TempDir()
	for dir := base; strings.HasPrefix(dir, os.TempDir()+"/"); dir = filepath.Dir(dir) {
		must(t, os.Chmod(dir, 0o755))
	}
	h := &home{base + "/workspace", base + "/state"}
	must(t, os.Mkdir(h.workspace, 0o755))
	must(t, os.Mkdir(h.state, 0o700))
	give(t, h.workspace)
	return h
}

// give makes a place one of an ordinary user, for environments that run no command as root.
func give(t testing.TB, path string) {
	t.Helper()
	must(t, os.Chmod(path, 0o777)) // root in a sandbox has no right of root
	if os.Getuid() == 0 {
		must(t, os.Chown(path, ordinary, ordinary))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (h *home) spec() engine.EnvironmentSpec {
	return engine.EnvironmentSpec{Agent: "baddays", Session: filepath.Base(filepath.Dir(filepath.Dir(h.workspace))), Layout: facts.Layout{
		Workspace: h.workspace, Home: "/home/agent", Temporary: []string{"/tmp"},
		Roots: []facts.Root{{Path: h.workspace, Write: true, Zone: "workspace"}},
	}}
}

// container is how most tests open containers; the engine is that of the surroundings.
func (h *home) container(t testing.TB) docker.Options {
	t.Helper()
	return docker.Options{Environ: os.Environ(), Supervisor: supervisor, State: h.state, Image: image(t)}
}

// image is the image of the containers.
func image(t testing.TB) string {
	t.Helper()
	ref := cmp.Or(os.Getenv("SALLYPORT_TEST_IMAGE"), docker.RuntimeImage)
	leftout.NeedDocker(t, ref)
	return ref
}

// kind is a runner of the tests that are the same for all.
type kind struct {
	name string
	make func(t testing.TB, h *home) engine.Runner
}

func kinds() []kind {
	return []kind{
		{"plain", func(t testing.TB, _ *home) engine.Runner {
			r, err := command.New(command.Options{Name: "plain", Command: []string{supervisor}, Host: os.Environ()})
			must(t, err)
			return r
		}},
		{"bubblewrap", func(t testing.TB, h *home) engine.Runner {
			leftout.Command(t, "bwrap")
			r, err := bubblewrap.New(bubblewrap.Options{Supervisor: supervisor, State: h.state, Environ: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/home/agent"}})
			must(t, err)
			return r
		}},
		{"docker", func(t testing.TB, h *home) engine.Runner { return contain(t, h.container(t)) }},
	}
}

func contain(t testing.TB, o docker.Options) engine.Runner {
	t.Helper()
	r, err := docker.New(o)
	must(t, err)
	return r
}

// each runs a test for every kind of runner.
func each(t *testing.T, test func(t *testing.T, h *home, r engine.Runner)) {
	leftout.Full(t, leftout.Slow)
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			h := newHome(t)
			test(t, h, k.make(t, h))
		})
	}
}

// open opens an environment that is closed with the test.
func open(t testing.TB, r engine.Runner, spec engine.EnvironmentSpec) engine.Environment {
	t.Helper()
	env, err := r.Open(context.Background(), spec)
	must(t, err)
	t.Cleanup(func() { _ = env.Close() })
	return env
}

// prepared is a command with a time limit that it does not reach.
func prepared(t testing.TB, env engine.Environment, dir, text string) engine.Command {
	t.Helper()
	c, err := env.Prepare(text, dir)
	must(t, err)
	c.ID, c.Timeout, c.Grace, c.Output = "D-"+nonce(), time.Hour, 300*time.Millisecond, 1<<20
	return c
}

func start(t testing.TB, env engine.Environment, c engine.Command) engine.Process {
	t.Helper()
	p, err := env.Start(context.Background(), c)
	must(t, err)
	return p
}

func run(t testing.TB, env engine.Environment, dir, text string) engine.Exit {
	t.Helper()
	return ended(t, start(t, env, prepared(t, env, dir, text)))
}

// serves makes sure that an environment does what it is for.
func serves(t testing.TB, env engine.Environment, dir string) {
	t.Helper()
	if x := run(t, env, dir, "echo alive"); x.Error != nil || x.Code != 0 || x.Stdout.Text != "alive\n" {
		t.Errorf("the environment serves no more: %+v", x)
	}
}

func nonce() string {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(err) // it does not fail where Go runs
	}
	return hex.EncodeToString(b[:])
}

// says checks an error for the words that a person needs.
func says(t testing.TB, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one that says %q", words)
		return
	}
	for _, word := range words {
		if !slices.ContainsFunc(strings.Split(word, "|"), func(w string) bool { return strings.Contains(err.Error(), w) }) {
			t.Errorf("the error does not say %q: %v", word, err)
		}
	}
}

// ending has the end of a process when that has come.
func ending(p engine.Process) <-chan engine.Exit {
	done := make(chan engine.Exit, 1)
	go func() { done <- p.Wait() }()
	return done
}

// ended waits for the end of a process.
func ended(t testing.TB, p engine.Process) engine.Exit {
	t.Helper()
	return await.Receive(t, "end of the process", ending(p))
}

// gone waits until no process has a tag among its arguments.
func gone(t testing.TB, tag string) {
	t.Helper()
	await.True(t, "the processes have ended", func() bool { return len(runnertest.Tagged(tag)) == 0 })
}

// mount makes a file system that is gone after the test.
func mount(t *testing.T, at string, words ...string) {
	t.Helper()
	leftout.NeedRoot(t)
	if out, err := exec.Command("mount", append(words, at)...).CombinedOutput(); err != nil {
		t.Fatalf("mount %v %s: %v: %s", words, at, err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", at).CombinedOutput(); err != nil {
			t.Errorf("unmount %s: %v: %s", at, err, out)
		}
	})
}

// cli runs the docker command as a person would.
func cli(t testing.TB, words ...string) string {
	t.Helper()
	out, err := exec.Command("docker", words...).CombinedOutput()
	if err != nil {
		t.Fatalf("docker %s: %v: %s", strings.Join(words, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// name is that of an environment's container.
func name(t testing.TB, env engine.Environment) string {
	t.Helper()
	made, ok := env.(interface{ Made() map[string]any })
	if !ok {
		t.Fatal("the environment does not say what it is made of")
	}
	return fmt.Sprint(made.Made()["container"])
}
