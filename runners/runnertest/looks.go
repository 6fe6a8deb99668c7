package runnertest

import (
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
