//go:build linux

package looks_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/looks"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// there is an environment that counts what it is asked: it has the files of this machine, and of nothing but a directory is it said
// that they are the same.
type there struct {
	engine.Remote
	asked []string
}

func (e *there) Place() wire.Place { return wire.Place{OS: "linux", Home: "/home/there"} }
func (e *there) Err() error        { return nil }
func (e *there) Close() error      { return nil }
func (e *there) FS() facts.FS      { return counting{facts.OSFS{}, e} }

func (e *there) Prepare(_, dir string) (engine.Command, error) {
	e.asked = append(e.asked, "prepare")
	return engine.Command{Env: []string{"HOME=/home/there", "PATH=/bin", "PWD=" + dir, "TOKEN=secret"}}, nil
}

type counting struct {
	facts.FS
	e *there
}

func (c counting) Lstat(p string) (fs.FileInfo, error) {
	c.e.asked = append(c.e.asked, p)
	return c.FS.Lstat(p)
}

// world is a directory that is shown, in one that is not.
type world struct{ base, shown, state string }

func newWorld(t *testing.T) world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := world{base, base + "/shown", base + "/state"}
	for _, dir := range []string{w.shown, base + "/other"} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.WriteFile(w.shown+"/file", []byte("shown"), 0o600), os.Symlink("../other", w.shown+"/link"), os.Symlink("b", w.shown+"/a"), os.Symlink("a", w.shown+"/b")); err != nil {
		t.Fatal(err)
	}
	return w
}

// at looks, and returns what the environment itself was asked.
func (w world) at(t *testing.T, key string, see func(*looks.Environment)) []string {
	t.Helper()
	e := &there{}
	env, err := looks.At(t.Context(), looks.Options{
		Dir: w.state, Key: key, Host: facts.OSFS{},
		Wire: wire.Options{Settings: wire.Settings{Venv: "auto", Env: []string{"TOKEN=secret"}}},
		Live: func(p string) (looks.Shown, bool) {
			rest, below := strings.CutPrefix(p, w.shown+"/")
			return looks.Shown{Source: w.shown, Rest: strings.TrimPrefix(rest, p)}, below || p == w.shown
		},
		Open: func(context.Context) (looks.Opened, error) {
			e.asked = append(e.asked, "open")
			return e, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	see(env)
	if err := env.Close(); err != nil {
		t.Error(err)
	}
	return e.asked
}

// What lies in a shown place is looked at here, and what else is asked for is asked for once.
func TestAsksOnce(t *testing.T) {
	w := newWorld(t)
	see := func(env *looks.Environment) {
		if content, _, err := env.FS().ReadFile(w.shown+"/file", 100); err != nil || string(content) != "shown" {
			t.Errorf("%q, %v", content, err)
		}
		if info, err := env.FS().Lstat(w.shown + "/link/absent"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v, %v", info, err)
		}
		if info, err := env.FS().Lstat(w.shown + "/link/."); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%v, %v", info, err)
		}
		if _, err := env.FS().ReadDir(w.shown + "/a"); err == nil {
			t.Error("links without an end")
		}
		c, err := env.Prepare("ls", w.shown)
		if diff := cmp.Diff([]string{"HOME=/home/there", "PATH=/bin", "PWD=" + w.shown, "TOKEN=secret"}, c.Env); err != nil || diff != "" {
			t.Error(err, diff)
		}
	}
	first := w.at(t, "k", see)
	for _, want := range []string{"open", "prepare", w.base, w.base + "/other", w.base + "/other/absent"} {
		if !slices.Contains(first, want) {
			t.Errorf("%s was not asked for: %q", want, first)
		}
	}
	if again := w.at(t, "k", see); again != nil {
		t.Errorf("asked again: %q", again)
	}
	if other := w.at(t, "l", see); !slices.Equal(first, other) {
		t.Errorf("of something else: %q", other)
	}
	if text, err := os.ReadFile(w.state + "/k.json"); err != nil || strings.Contains(string(text), "secret") {
		t.Errorf("%v: %s", err, text)
	}
}

// What changes by itself, and what cannot be told, is asked for each time.
func TestAsksAgain(t *testing.T) {
	w := newWorld(t)
	strange := w.base + "/\xff"
	see := func(env *looks.Environment) {
		for _, p := range []string{"/proc/1", strange} {
			_, _ = env.FS().Lstat(p)
		}
	}
	w.at(t, "k", see)
	if again := w.at(t, "k", see); !slices.Equal(again, []string{"open", "/proc/1", strange}) {
		t.Errorf("%q", again)
	}
}

// What others may have written is not used.
func TestOwnMemory(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"nothing":             func(string) error { return nil },
		"writable":            func(dir string) error { return os.Chmod(dir+"/k.json", 0o620) },
		"in a writable place": func(dir string) error { return os.Chmod(dir, 0o777) },
		"a link": func(dir string) error {
			return errors.Join(os.Rename(dir+"/k.json", dir+"/x"), os.Symlink("x", dir+"/k.json"))
		},
		"of something else": func(dir string) error { return os.Rename(dir+"/k.json", dir+"/l.json") },
		"cut off":           func(dir string) error { return os.Truncate(dir+"/k.json", 10) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			none := func(*looks.Environment) {}
			w.at(t, "k", none)
			if err := spoil(w.state); err != nil {
				t.Fatal(err)
			}
			key := "k"
			if name == "of something else" {
				key = "l"
			}
			if asked := w.at(t, key, none); (len(asked) == 0) != (name == "nothing") {
				t.Errorf("%q", asked)
			}
		})
	}
}
