package journal_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/journal"
)

// fake is a runner whose environments do as a test wants.
type fake struct {
	engine.Runner
	open func(engine.EnvironmentSpec) (engine.Environment, error)
}

func (fake) Describe() facts.Runner { return facts.Runner{Name: "fake"} }
func (f fake) Open(_ context.Context, spec engine.EnvironmentSpec) (engine.Environment, error) {
	return f.open(spec)
}

// far is an environment that can break.
type far struct {
	engine.Environment
	broken error
}

func (f *far) Layout(l facts.Layout) facts.Layout { l.Home = "/there"; return l }
func (f *far) Err() error                         { return f.broken }
func (f *far) Close() error                       { return nil }
func (f *far) Made() map[string]any               { return map[string]any{"image": "img", "env": []string{"NAME"}} }
func (f *far) Shortcomings() []string             { return []string{"it is far"} }

func TestRemote(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inner := &far{}
	r := journal.Wrap(fake{open: func(s engine.EnvironmentSpec) (engine.Environment, error) {
		s.Tell("create", map[string]any{"id": "c1"})
		return inner, nil
	}}, journal.Options{Dir: dir})
	env := open(t, r)
	remote, ok := env.(engine.Remote)
	if !ok || remote.Err() != nil || remote.Layout(facts.Layout{}).Home != "/there" {
		t.Fatalf("%T is no remote environment like the one within", env)
	}
	if _, ok := open(t, journal.Wrap(localRunner(t), journal.Options{})).(engine.Remote); ok {
		t.Error("a local environment is remote now")
	}
	inner.broken = errors.New("the line is cut")
	for range 2 {
		if remote.Err() == nil {
			t.Error("it is not broken")
		}
	}
	e := only(t, dir)
	if e.State != journal.Gone || e.Details["image"] != "img" {
		t.Errorf("%+v", e)
	}
	remote.Close()
	var told []string
	for _, e := range events(dir, e.Name) {
		told = append(told, strings.TrimSpace(string(e.Event)+" "+e.Step+e.Error))
	}
	if diff := cmp.Diff([]string{"environment", "opening", "step create", "opened", "broke the line is cut"}, told); diff != "" {
		t.Error(diff)
	}
}

func TestCannotBeOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := journal.Wrap(fake{open: func(engine.EnvironmentSpec) (engine.Environment, error) { return nil, errors.New("no engine") }}, journal.Options{Dir: dir})
	if _, err := r.Open(context.Background(), engine.EnvironmentSpec{}); err == nil || err.Error() != "no engine" {
		t.Errorf("%v", err)
	}
	e := only(t, dir)
	all := events(dir, e.Name)
	if last := all[len(all)-1]; e.State != journal.Gone || last.Event != journal.KindFailed || last.Error != "no engine" {
		t.Errorf("%s, %+v", e.State, last)
	}
}

// TestNames holds that names tell environments apart and are harmless as names of files.
func TestNames(t *testing.T) {
	t.Parallel()
	seen := map[string]journal.Identity{}
	for _, id := range []journal.Identity{
		{}, {Runner: "local", Agent: "a"}, {Runner: "local", Agent: "a", Session: "s"}, {Runner: "local", Agent: "a", Session: "S"},
		{Runner: "local", Agent: "a", Workspace: "s"}, {Runner: "local", Agent: "a", Session: "../../etc/passwd"}, {Runner: "local", Agent: "a", Session: strings.Repeat("ä", 300)},
		{Runner: "..", Agent: "..", Session: ".."}, {Runner: "local", Agent: "a", Session: "\x00\n"},
	} {
		name := id.Name()
		if other, twice := seen[name]; twice {
			t.Errorf("%+v and %+v are both %s", id, other, name)
		}
		seen[name] = id
		if filepath.Base(name) != name || strings.HasPrefix(name, ".") || len(name) > 100 || strings.ContainsAny(name, "/\\:\x00\n ") {
			t.Errorf("%q", name)
		}
	}
}
