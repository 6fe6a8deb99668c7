//go:build unix

package docker

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestThroughSSH reaches an engine as the docker command does with ssh://, by an ssh that stays here: it
// notes its arguments and runs what it was to run there.
func TestThroughSSH(t *testing.T) {
	l := newLab(t)
	bin := t.TempDir()
	must(t, os.WriteFile(filepath.Join(bin, "ssh"), []byte(`#!/bin/sh
echo "$@" >> "$(dirname "$0")/asked"
while [ "$1" != -- ]; do shift; done
shift 2
unset DOCKER_HOST
exec "$@"
`), 0o755))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	l.o.Environ = append(os.Environ(), "DOCKER_HOST=ssh://me@far:2222")
	env := l.open(l.spec())
	says(t, env, l.workspace, "echo through ssh", "through ssh")
	must(t, env.Close())
	if left := l.list(); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	asked, err := os.ReadFile(filepath.Join(bin, "asked"))
	must(t, err)
	if first, _, _ := strings.Cut(string(asked), "\n"); first != "-o BatchMode=yes -T -p 2222 -l me -- far docker system dial-stdio" {
		t.Errorf("asked %q", first)
	}
	must(t, os.WriteFile(filepath.Join(bin, "ssh"), []byte("#!/bin/sh\necho 'Permission denied (publickey).' >&2\nexit 255\n"), 0o755))
	if _, err := Connect(context.Background(), l.o); err == nil || !strings.Contains(err.Error(), "Permission denied (publickey)") || !strings.Contains(err.Error(), "docker version") {
		t.Errorf("refused: %v", err)
	}
	for _, host := range []string{"ssh://", "ssh://me:secret@far"} {
		l.o.Environ = []string{"DOCKER_HOST=" + host}
		if _, err := Connect(context.Background(), l.o); err == nil || strings.Contains(err.Error(), "secret@") {
			t.Errorf("%s: %v", host, err)
		}
	}
}
