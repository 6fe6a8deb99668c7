package baddays

import (
	"testing"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// TestOutOfMemory kills a member of a pipeline for want of memory: the exit status is that of the last
// member, 0, and the kill is told all the same.
func TestOutOfMemory(t *testing.T) {
	leftout.Full(t, leftout.Slow)
	h := newHome(t)
	o := h.container(t)
	o.Memory = 128 << 20
	env := open(t, contain(t, o), h.spec())
	for _, tc := range []struct {
		name, text string
		code       int
	}{
		{"the command itself", `head -c 1000000000 /dev/zero | exec tail -n 1`, 137},
		{"a member of a pipeline", `head -c 1000000000 /dev/zero | tail -n 1 | cat >/dev/null`, 0},
		{"a child in the background", `head -c 1000000000 /dev/zero | tail -n 1 & wait; exit 0`, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			x := run(t, env, h.workspace, tc.text)
			if x.OOMKills < 1 || x.Code != tc.code || x.Error != nil {
				t.Errorf("code %d, %d kills for want of memory, want some: %v, %.200q", x.Code, x.OOMKills, x.Error, x.Stderr.Text)
			}
		})
	}
	if x := run(t, env, h.workspace, "true"); x.OOMKills != 0 {
		t.Errorf("a command that did nothing is told of %d kills", x.OOMKills)
	}
	serves(t, env, h.workspace)
}
