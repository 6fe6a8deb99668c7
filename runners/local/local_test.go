package local_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/local"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
	"github.com/sallyport-dev/sallyport/runners/starter"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == starter.ParentFlag {
		_ = starter.BeParent()
		os.Exit(0)
	}
	runnertest.Gateway("local", func() (engine.Environment, error) {
		r, err := local.New(local.Options{Apart: os.Args[0]})
		if err != nil {
			return nil, err
		}
		return r.Open(context.Background(), engine.EnvironmentSpec{})
	})
	os.Exit(m.Run())
}

func TestConformance(t *testing.T) {
	runnertest.RunIn(t, runnertest.Options{Gateway: "local"}, func(t *testing.T) engine.Environment {
		return open(t, local.Options{Apart: os.Args[0]}, "") // as the gate opens it
	})
}

// TestSameListing: nothing of sallyport appears in a workspace.
func TestSameListing(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	runnertest.SameListing(t, ws, func(t *testing.T) engine.Environment { return open(t, local.Options{}, ws) })
}

func open(t testing.TB, opts local.Options, workspace string) *local.Environment {
	t.Helper()
	r, err := local.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	spec := engine.EnvironmentSpec{}
	spec.Layout.Workspace = workspace
	env, err := r.Open(context.Background(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return env.(*local.Environment)
}

// output runs a text to its end and returns all that can be seen of it.
func output(t *testing.T, opts local.Options, text string) string {
	t.Helper()
	env := open(t, opts, "")
	defer env.Close()
	c, err := env.Prepare(text, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c.ID, c.Timeout, c.Output = "D-test", 30*time.Second, 1<<16
	proc, err := env.Start(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	x := proc.Wait()
	return fmt.Sprintf("%d %q %q %v", x.Code, x.Stdout.Text, x.Stderr.Text, x.Error)
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	r, err := local.New(local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := facts.Runner{Name: "local", Isolation: "none", Network: "host", Confinement: facts.Confinement{
		Write: facts.Open, Read: facts.Open, Connect: facts.Open,
	}}
	if got := r.Describe(); got != want {
		t.Errorf("got %+v", got)
	}
	if !filepath.IsAbs(r.Shell().Path) {
		t.Errorf("shell %+v", r.Shell())
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.Open(ctx, engine.EnvironmentSpec{}); err == nil {
		t.Error("opened for an ended request")
	}
}

func TestFS(t *testing.T) {
	t.Parallel()
	env := open(t, local.Options{}, "")
	defer env.Close()
	files := env.FS()
	dir := t.TempDir()
	file, link := filepath.Join(dir, "f"), filepath.Join(dir, "l")
	if err := os.WriteFile(file, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int]string{0: "", 9: "012345678", 10: "0123456789", 11: "0123456789"} {
		got, whole, err := files.ReadFile(file, limit)
		if err != nil || string(got) != want || whole != (limit >= 10) {
			t.Errorf("limit %d: %q, %v, %v", limit, got, whole, err)
		}
	}
	if _, _, err := files.ReadFile(dir, 10); err == nil {
		t.Error("a directory was read")
	}
	if _, _, err := files.ReadFile(filepath.Join(dir, "none"), 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if entries, err := files.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	unixOnly(t)
	if err := os.Symlink("f", link); err != nil {
		t.Fatal(err)
	}
	if info, err := files.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("%v, %v", info, err)
	}
	if to, err := files.ReadLink(link); err != nil || to != "f" {
		t.Errorf("%q, %v", to, err)
	}
	// A named pipe that nobody writes to would block whoever opens it.
	pipe := filepath.Join(dir, "p")
	if got := output(t, local.Options{}, "mkfifo '"+pipe+"'"); !strings.HasPrefix(got, "0 ") {
		t.Fatal(got)
	}
	if _, _, err := files.ReadFile(pipe, 10); err == nil {
		t.Error("a named pipe was read")
	}
}

// What is looked at is what commands would get, and nothing starts there.
func TestLook(t *testing.T) {
	ws := t.TempDir()
	if err := os.MkdirAll(filepath.Join(ws, ".venv", "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	r, err := local.New(local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	spec := engine.EnvironmentSpec{Layout: facts.Layout{Workspace: ws}}
	opened, err := r.Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	looked, err := r.Look(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	want, err := opened.Prepare("touch made", ws)
	if err != nil {
		t.Fatal(err)
	}
	got, err := looked.Prepare("touch made", ws)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	want.ID, want.Timeout = "look", time.Minute
	if _, err := looked.Start(t.Context(), want); err == nil {
		t.Error("started")
	}
	p, err := opened.Start(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	if x := p.Wait(); x.Code != 0 {
		t.Error(x)
	}
	if err := looked.Close(); err != nil {
		t.Error(err)
	}
}
