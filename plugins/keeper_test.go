package plugins_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/plugins"
)

// kept is a configuration in files that change.
type kept struct {
	root, text string
	environ    []string
	options    plugins.Options
}

func newKept(t *testing.T) *kept {
	t.Helper()
	k := &kept{root: t.TempDir(), environ: []string{"A=1", "B=2"}}
	k.environ = append(k.environ, "PATH="+filepath.Join(k.root, "bin"))
	k.text = `policies: [policies]
paths: [{path: later, optional: true}]
plugins: [rule.wasm]
commands: {table: [table.yaml]}
environment: {env_file: vars.env}
`
	for name, text := range map[string]string{
		"project/file": "", "other/file": "", "policies/one.rego": "package sallyport.custom.one\n",
		"rule.wasm": "1", "rule.manifest.json": "1", "vars.env": "X=1\n", "table.yaml": "mytool: {does: network}\n",
	} {
		k.write(t, name, text)
	}
	if err := os.Symlink("project", filepath.Join(k.root, "work")); err != nil {
		t.Fatal(err)
	}
	return k
}

func (k *kept) write(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join(k.root, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (k *kept) key(t *testing.T) string {
	t.Helper()
	getenv := func(name string) string {
		return map[string]string{"XDG_STATE_HOME": filepath.Join(k.root, "state")}[name]
	}
	host := config.Host{Dir: k.root, Home: filepath.Join(k.root, "home"), Now: time.Now(), Environ: k.environ,
		Getenv: getenv}
	file := filepath.Join(k.root, "c.yaml")
	l, err := config.Parse("version: 1\nworkspace: work\n"+k.text, file, "--config", host)
	if err != nil {
		t.Fatal(err)
	}
	key, err := plugins.KeyOf(l, k.options)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestKey: a gate serves no request under another configuration, or after a change of a file of which it was
// made.
func TestKey(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*testing.T, *kept)
		same   bool
	}{
		"nothing":            {func(*testing.T, *kept) {}, true},
		"order of variables": {func(_ *testing.T, k *kept) { k.environ = []string{k.environ[1], k.environ[0], k.environ[2]} }, true},
		"file in workspace":  {func(t *testing.T, k *kept) { k.write(t, "project/file", "x") }, true},
		"variable":           {func(_ *testing.T, k *kept) { k.environ[0] = "A=2" }, false},
		"shell": {func(t *testing.T, k *kept) {
			k.write(t, "bin/bash", "#!/bin/sh\n")
			if err := os.Chmod(filepath.Join(k.root, "bin/bash"), 0o755); err != nil {
				t.Fatal(err)
			}
		}, false},
		"session":       {func(_ *testing.T, k *kept) { k.options.Session = "s" }, false},
		"check only":    {func(_ *testing.T, k *kept) { k.options.CheckOnly = true }, false},
		"look":          {func(_ *testing.T, k *kept) { k.options.Look = true }, false},
		"setting":       {func(_ *testing.T, k *kept) { k.text += "profile: strict\n" }, false},
		"grant appears": {func(t *testing.T, k *kept) { k.write(t, "later/file", "") }, false},
		"new rule": {func(t *testing.T, k *kept) {
			k.write(t, "policies/two.rego", "package x\n")
		}, false},
		"rule": {func(t *testing.T, k *kept) {
			k.write(t, "policies/one.rego", "package y\n")
		}, false},
		"plugin":              {func(t *testing.T, k *kept) { k.write(t, "rule.wasm", "12") }, false},
		"manifest":            {func(t *testing.T, k *kept) { k.write(t, "rule.manifest.json", "12") }, false},
		"variables of a file": {func(t *testing.T, k *kept) { k.write(t, "vars.env", "X=10\n") }, false},
		"table": {func(t *testing.T, k *kept) {
			k.write(t, "table.yaml", "mytool: {does: write}\n")
		}, false},
		"virtual environment": {func(t *testing.T, k *kept) { k.write(t, "project/.venv/bin/python", "") }, false},
		"rule of the same size and time": {func(t *testing.T, k *kept) {
			disguise(t, filepath.Join(k.root, "policies/one.rego"))
		}, runtime.GOOS != "linux"},
		"plugin of the same size and time": {func(t *testing.T, k *kept) {
			disguise(t, filepath.Join(k.root, "rule.wasm"))
		}, runtime.GOOS != "linux"},
		"workspace": {func(t *testing.T, k *kept) {
			link := filepath.Join(k.root, "work")
			if err := errors.Join(os.Remove(link), os.Symlink("other", link)); err != nil {
				t.Fatal(err)
			}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKept(t)
			before := k.key(t)
			test.change(t, k)
			if after := k.key(t); (after == before) != test.same {
				t.Errorf("same gate: %v, want %v", after == before, test.same)
			}
		})
	}
}

// disguise changes a file and restores its time. It repeats that until the time of the file system's clock
// has moved.
func disguise(t *testing.T, file string) {
	t.Helper()
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	text := bytes.Repeat([]byte("#"), int(before.Size()))
	await.True(t, "the file changes", func() bool {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		now, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		moved := !now.ModTime().Equal(before.ModTime())
		if err := os.Chtimes(file, time.Time{}, before.ModTime()); err != nil {
			t.Fatal(err)
		}
		return moved
	})
}

// TestKeeperPanics: a panic ends the request that makes a gate; the next one makes it anew and does not wait
// for the first.
func TestKeeperPanics(t *testing.T) {
	t.Parallel()
	l := load(t, "local: {sandbox: none}\n")
	made := 0
	k := plugins.KeeperOf(func(context.Context, *config.Loaded, plugins.Options) (*plugins.Sallyport, error) {
		if made++; made == 1 {
			panic("a fault")
		}
		return &plugins.Sallyport{}, nil
	})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was hidden")
			}
		}()
		_, _, _ = k.Open(t.Context(), l, plugins.Options{})
	}()
	ctx, cancel := context.WithTimeout(t.Context(), await.Guard)
	defer cancel()
	_, release, err := k.Open(ctx, l, plugins.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(release(), k.Close()); err != nil || made != 2 {
		t.Errorf("made %d times: %v", made, err)
	}
}

// TestKeeper: requests of one session share a gate, also if they come at once; other sessions have their own;
// those without a request are closed beyond a number; a gate that was not made is not kept.
func TestKeeper(t *testing.T) {
	t.Parallel()
	l := load(t, "local: {sandbox: none}\n")
	var mu sync.Mutex
	made := 0
	fails := errors.New("fails")
	k := plugins.KeeperOf(func(_ context.Context, _ *config.Loaded, o plugins.Options) (*plugins.Sallyport,
		error) {
		mu.Lock()
		defer mu.Unlock()
		if made++; o.Session == "broken" {
			return nil, fails
		}
		return &plugins.Sallyport{}, nil
	})
	var at sync.WaitGroup
	for range 20 {
		at.Go(func() {
			_, release, err := k.Open(t.Context(), l, plugins.Options{Session: "one"})
			if err == nil {
				err = release()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	at.Wait()
	if made != 1 || k.Len() != 1 {
		t.Errorf("%d gates made, %d open", made, k.Len())
	}
	for range 2 {
		if _, _, err := k.Open(t.Context(), l, plugins.Options{Session: "broken"}); !errors.Is(err, fails) {
			t.Errorf("a broken one: %v", err)
		}
	}
	if made != 3 || k.Len() != 1 {
		t.Errorf("%d gates made, %d open", made, k.Len())
	}
	held, release, err := k.Open(t.Context(), l, plugins.Options{Session: "held"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 * plugins.MostKept {
		_, done, err := k.Open(t.Context(), l, plugins.Options{Session: fmt.Sprint(i)})
		if err == nil {
			err = done()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if k.Len() != plugins.MostKept {
		t.Errorf("%d gates are open, want %d", k.Len(), plugins.MostKept)
	}
	again, other, err := k.Open(t.Context(), l, plugins.Options{Session: "held"})
	if err != nil || again != held {
		t.Errorf("a gate in use was closed: %v", err)
	}
	if err := errors.Join(other(), release(), release(), k.Close()); err != nil || k.Len() != 0 {
		t.Errorf("%d gates are open: %v", k.Len(), err)
	}
}

// TestKeptGateDecides: a gate that is kept decides as one of its own does.
func TestKeptGateDecides(t *testing.T) {
	t.Parallel()
	l := load(t, "local: {sandbox: none}\n")
	k := plugins.KeeperOf(func(ctx context.Context, l *config.Loaded, o plugins.Options) (*plugins.Sallyport,
		error) {
		return plugins.Assemble(ctx, l, o.Unhurried())
	})
	for _, want := range []engine.Effect{engine.Allow, engine.Deny} {
		s, release, err := k.Open(t.Context(), l, plugins.Options{CheckOnly: true, Version: "test"})
		if err != nil {
			t.Fatal(err)
		}
		command := map[engine.Effect]string{engine.Allow: "ls", engine.Deny: "rm -rf /"}[want]
		out, err := s.Check(t.Context(), engine.Request{Tool: "execute_command", Command: command})
		if err != nil || out.Decision.Effect != want {
			t.Errorf("%s: %v, %v", command, out.Decision.Effect, err)
		}
		if err := release(); err != nil {
			t.Error(err)
		}
	}
	if k.Len() != 1 {
		t.Errorf("%d gates", k.Len())
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
}
