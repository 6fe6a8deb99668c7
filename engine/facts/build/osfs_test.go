package build

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
)

func TestOSFS(t *testing.T) {
	t.Parallel()
	dir := filepath.ToSlash(t.TempDir())
	if err := os.WriteFile(dir+"/f", []byte("hello"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("f", dir+"/l"); err != nil {
		t.Fatal(err)
	}
	f := facts.OSFS{}
	if info, err := f.Lstat(dir + "/l"); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("lstat: %v %v", info, err)
	}
	if target, err := f.ReadLink(dir + "/l"); err != nil || target != "f" {
		t.Errorf("readlink: %q %v", target, err)
	}
	if entries, err := f.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("readdir: %v %v", entries, err)
	}
	for _, c := range []struct {
		name    string
		limit   int
		content string
		whole   bool
		fails   bool
	}{{"/l", 5, "hello", true, false}, {"/f", 4, "hell", false, false}, {"/none", 5, "", false, true}, {"", 5, "", false, true}} {
		content, whole, err := f.ReadFile(dir+c.name, c.limit)
		if string(content) != c.content || whole != c.whole || (err != nil) != c.fails {
			t.Errorf("read %q: %q %v %v", c.name, content, whole, err)
		}
	}
}

// shutFS refuses to look into one directory, as the system does without search permission.
type shutFS struct {
	facts.FS
	dir string
}

func (s shutFS) Lstat(p string) (fs.FileInfo, error) {
	if disk.Below(p, s.dir) {
		return nil, &fs.PathError{Op: "lstat", Path: p, Err: fs.ErrPermission}
	}
	return s.FS.Lstat(p)
}

func TestUnreadableWorkDir(t *testing.T) {
	t.Parallel()
	b := NewBuilder(testLayout(), shutFS{newMemFS(machine), testWS + "/src"}, nil)
	ask := testAsk("ls")
	ask.Request.WorkDir = "src"
	if got := b.Build(ask).Request.WorkDirState; got != "unreadable" {
		t.Errorf("work_dir_state is %q, want unreadable", got)
	}
}
