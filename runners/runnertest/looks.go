package runnertest

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/build"
)

// SameFacts checks that a preview of an environment gives the same facts as the environment itself: the whole
// input of policies, and the variables of commands.
func SameFacts(t *testing.T, l facts.Layout, opened, looked engine.Remote, dirs, texts []string) {
	t.Helper()
	if diff := cmp.Diff(opened.Layout(l), looked.Layout(l)); diff != "" {
		t.Errorf("layout (-opened +looked):\n%s", diff)
	}
	for _, dir := range dirs {
		for _, text := range texts {
			want, got := inputOf(t, l, opened, dir, text), inputOf(t, l, looked, dir, text)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s (-opened +looked):\n%s", dir, text, diff)
			}
		}
	}
	if err := looked.Err(); err != nil {
		t.Error(err)
	}
}

// inputOf is the policy input of a command, as the gate makes it.
func inputOf(t *testing.T, l facts.Layout, env engine.Remote, dir, text string) *facts.Input {
	t.Helper()
	c, err := env.Prepare(text, dir)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for _, kv := range c.Env {
		for i := range kv {
			if kv[i] == '=' {
				values[kv[:i]] = kv[i+1:]
				break
			}
		}
	}
	return build.NewBuilder(env.Layout(l), env.FS(), nil).Build(facts.Ask{
		Request: facts.Request{Tool: "execute_command", Command: c.Text, WorkDir: dir}, Env: values,
	})
}

// SameListing checks that a session that writes nothing leaves no trace in a workspace: the names, types and
// modes of its files on this machine are the same before, during and after it.
func SameListing(t *testing.T, workspace string, open func(t *testing.T) engine.Environment) {
	t.Helper()
	for _, dir := range []string{".git/objects", ".git/refs", ".git/hooks", "src"} {
		if err := os.MkdirAll(filepath.Join(workspace, dir), 0o755); err != nil { //nolint:gosec // commands see it
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n\tbare = false\n", "src/a": "text\n",
	} {
		if err := os.WriteFile(filepath.Join(workspace, name), []byte(text),
			0o644); err != nil { //nolint:gosec // commands see it
			t.Fatal(err)
		}
	}
	before := listing(t, workspace)
	env := open(t)
	p := &place{env: env, dir: workspace}
	x := p.run(t, "ls -a . .git >/dev/null && echo seen")
	during := listing(t, workspace)
	if err := env.Close(); err != nil {
		t.Error(err)
	}
	if x.Stdout.Text != "seen\n" {
		t.Errorf("a command does not see the workspace: %+v", x)
	}
	if diff := cmp.Diff(before, during); diff != "" {
		t.Errorf("during a session (-before +during):\n%s", diff)
	}
	if diff := cmp.Diff(before, listing(t, workspace)); diff != "" {
		t.Errorf("after a session (-before +after):\n%s", diff)
	}
}

// listing is the type and mode of each file below a directory.
func listing(t *testing.T, dir string) map[string]fs.FileMode {
	t.Helper()
	all := map[string]fs.FileMode{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil {
			all[p] = info.Mode()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
