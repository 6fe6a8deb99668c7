package docker

import (
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// TestTrials: an open wall of a container shows at its start.
func TestTrials(t *testing.T) {
	t.Parallel()
	const holds, open = facts.Holds, facts.Open
	result := func(write, read, connect string) facts.Confinement {
		return facts.Confinement{Write: write, Read: read, Connect: connect}
	}
	for _, tc := range []struct {
		name string
		o    Options
		hole bool // somebody made the container again, with a place of the host
		want facts.Confinement
	}{
		{"as planned", Options{}, false, result(holds, holds, holds)},
		{"network of this machine", Options{Network: "host"}, false, result(holds, holds, open)},
		{"network of the engine", Options{Network: "bridge"}, false, result(holds, holds, facts.Untried)},
		{"another mount", Options{}, true, result(open, open, holds)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.o.Keep, tc.o.Image = true, testImage()
			l := newLabOf(t, tc.o)
			r := l.runner()
			if got := r.Describe().Confinement; got != (facts.Confinement{}) {
				t.Errorf("before an environment: %+v", got)
			}
			env, err := r.Open(t.Context(), l.spec())
			must(t, err)
			if tc.hole {
				must(t, env.Close())
				l.hole(t, "/var/tmp")
				env, err = r.Open(t.Context(), l.spec())
				must(t, err)
			}
			if got := r.Describe().Confinement; got != tc.want {
				t.Errorf("%+v, want %+v", got, tc.want)
			}
			says(t, env, l.workspace, "echo alive", "alive")
			must(t, env.Close())
		})
	}
}

// hole makes the container of a lab again, with a place of this machine that can be written to.
func (l *lab) hole(t *testing.T, place string) {
	t.Helper()
	cli := l.engine().cli
	id := l.list()[0].ID
	found, err := cli.ContainerInspect(t.Context(), id)
	must(t, err)
	must(t, cli.ContainerRemove(t.Context(), id, container.RemoveOptions{Force: true, RemoveVolumes: true}))
	host := found.HostConfig
	delete(host.Tmpfs, place)
	host.Binds = append(host.Binds, place+":"+place)
	_, err = cli.ContainerCreate(t.Context(), found.Config, host, nil, nil, found.Name[1:])
	must(t, err)
}
