package baddays

import (
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
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

// TestForkBomb bombs a container up to its limit: the time limit holds, nothing is left, and the next
// command finds the environment as it was.
func TestForkBomb(t *testing.T) {
	leftout.Full(t, leftout.Slow)
	h := newHome(t)
	o := h.container(t)
	o.PIDs = 128
	env := open(t, contain(t, o), h.spec())
	for _, text := range []string{
		`bomb() { bomb | bomb & }; bomb; sleep "$TAG"`,
		`for i in $(seq 2000); do (setsid sleep "$TAG" &) ; done; sleep "$TAG"`,
		`(trap '' TERM; while :; do (trap '' TERM; setsid sleep "$TAG" & sleep "$TAG" &); done)`,
	} {
		tag := runnertest.NewTag()
		c := prepared(t, env, h.workspace, text)
		c.Timeout = 2 * time.Second
		c.Env = append(c.Env, "TAG="+tag)
		x := ended(t, start(t, env, c))
		if x.Error != nil || x.Survivors != 0 {
			t.Errorf("%s: %v, %d survivors", text, x.Error, x.Survivors)
		}
		gone(t, tag)
		if _, broken := env.(engine.Remote); broken && env.(engine.Remote).Err() != nil {
			t.Errorf("%s: the environment broke: %v", text, env.(engine.Remote).Err())
			env = open(t, contain(t, o), h.spec())
		}
		serves(t, env, h.workspace)
	}
}
