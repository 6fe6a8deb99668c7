//go:build amd64 || arm64

package bubblewrap

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// TestOnlySureAnswers looks below the root of this process.
func TestOnlySureAnswers(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	n := nearTo(os.Getpid(), ws)
	if n == nil {
		t.Skip("the kernel does not show the root of a process, or lacks openat2")
	}
	if err := os.Symlink("/proc/self/cwd", filepath.Join(ws, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(ws, "closed"), 0o700); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		if err := os.Chown(filepath.Join(ws, "closed"), 64_301, 64_301); err != nil {
			t.Fatal(err)
		}
	} else if err := os.Chmod(filepath.Join(ws, "closed"), 0o600); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]bool{
		ws: true, "none": true, "link/x": false, "closed": true, "closed/x": false, "/proc/self": false,
		"/dev/null": false,
	} {
		if !filepath.IsAbs(p) {
			p = filepath.Join(ws, p)
		}
		_, sure := n.walk([]string{p})
		for range 100 { // what the kernel has forgotten is not sure, but for local file systems
			if sure || !want {
				break
			}
			_, _ = os.Lstat(p)
			_, sure = n.walk([]string{p})
		}
		if sure != want {
			t.Errorf("%s: sure %v, want %v", p, sure, want)
		}
	}
	if n.look(func(files facts.FS) { files.ReadDir(ws) }) ||
		n.look(func(files facts.FS) { files.ReadFile(ws, 1) }) {
		t.Error("contents are sure")
	}
	n.close()
	if _, sure := n.walk([]string{ws}); sure {
		t.Error("it looks at a closed root")
	}
	if _, sure := (*near)(nil).walk([]string{ws}); sure {
		t.Error("no view is sure")
	}
	if nearTo(-1, ws) != nil {
		t.Error("a root of no process")
	}
}
