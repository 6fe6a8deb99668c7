package escapes

import (
	"cmp"
	"os"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/bubblewrap"
	"github.com/sallyport-dev/sallyport/runners/docker"
)

func TestBubblewrap(t *testing.T) {
	leftout.Full(t, leftout.Slow)
	leftout.Command(t, "bwrap")
	confine(t, inBubblewrap, bubblewrapped)
}

func bubblewrapped(t *testing.T, w *world) engine.Environment {
	t.Helper()
	r, err := bubblewrap.New(bubblewrap.Options{
		Supervisor: built.supervisor, State: w.notes, Network: "none", Scratch: 256 << 20, Memory: 512 << 20, PIDs: 256,
		Environ: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + w.hidden, "USER=agent", "LANG=C.UTF-8"},
	})
	must(t, err)
	return opened(t, w, r)
}

func TestDocker(t *testing.T) {
	confine(t, inDocker, contained(t, docker.Options{Image: image(t, "SALLYPORT_TEST_IMAGE", docker.RuntimeImage)}))
}

// TestDockerSudo makes the tries twice in the container in which commands may become root: as they are,
// and as root.
func TestDockerSudo(t *testing.T) {
	o := docker.Options{Elevated: true, Image: image(t, "SALLYPORT_TEST_SUDO_IMAGE", docker.RuntimeSudoImage)}
	t.Run("plain", func(t *testing.T) { confine(t, inDockerSudo, contained(t, o)) })
	t.Run("elevated", func(t *testing.T) { confine(t, asSudo, contained(t, o)) })
}

// image is the one that a variable names, or else the other one.
func image(t *testing.T, variable, other string) string {
	t.Helper()
	ref := cmp.Or(os.Getenv(variable), other)
	leftout.NeedDocker(t, ref)
	return ref
}

func contained(t *testing.T, o docker.Options) opener {
	t.Helper()
	return func(t *testing.T, w *world) engine.Environment {
		t.Helper()
		o.Environ, o.Supervisor, o.State = os.Environ(), built.supervisor, w.notes
		o.Memory, o.Temporary = 512<<20, 256<<20
		r, err := docker.New(o)
		must(t, err)
		return opened(t, w, r)
	}
}
