package changes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// each kind of change is named, also in directories that come up meanwhile.
func TestTouched(t *testing.T) {
	const text = "text"
	write := func(t *testing.T, name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name string
		do   func(root, outside string) error
		want []string
	}{
		{"nothing", func(string, string) error { return nil }, nil},
		{"read", func(r, _ string) error { _, err := os.ReadFile(r + "/a/f"); return err }, nil},
		{"create",
			func(r, _ string) error { return os.WriteFile(r+"/a/new", nil, 0o600) },
			[]string{"a/new"}},
		{"append", func(r, _ string) error {
			f, err := os.OpenFile(r+"/a/f", os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString("x")
			return err
		}, []string{"a/f"}},
		{"mode", func(r, _ string) error { return os.Chmod(r+"/a/f", 0o700) }, []string{"a/f"}},
		{"remove", func(r, _ string) error { return os.Remove(r + "/a/f") }, []string{"a/f"}},
		{"rename", func(r, _ string) error { return os.Rename(r+"/a/f", r+"/b/g") }, []string{"a/f", "b/g"}},
		{"link", func(r, _ string) error { return os.Symlink("x", r+"/l") }, []string{"l"}},
		{"nested directories", func(r, _ string) error {
			if err := os.MkdirAll(r+"/n/m", 0o700); err != nil {
				return err
			}
			return os.WriteFile(r+"/n/m/f", nil, 0o600)
		}, []string{"n", "n/m", "n/m/f"}},
		{"directory renamed",
			func(r, _ string) error { return os.Rename(r+"/a", r+"/c") },
			[]string{"a", "c", "c/d", "c/d/deep", "c/f"}},
		{"directory renamed, then written to", func(r, _ string) error {
			if err := os.Rename(r+"/a/d", r+"/c"); err != nil {
				return err
			}
			return os.WriteFile(r+"/c/new", nil, 0o600)
		}, []string{"a/d", "c", "c/deep", "c/new"}},
		{"directory moved in",
			func(r, o string) error { return os.Rename(o+"/tree", r+"/tree") },
			[]string{"tree", "tree/in", "tree/in/f"}},
		{"directory moved out, then written to", func(r, o string) error {
			if err := os.Rename(r+"/a/d", o+"/d"); err != nil {
				return err
			}
			return os.WriteFile(o+"/d/new", nil, 0o600)
		}, []string{"a/d"}},
		{"mapped", func(r, _ string) error {
			f, err := os.OpenFile(r+"/a/f", os.O_RDWR, 0)
			if err != nil {
				return err
			}
			m, err := unix.Mmap(int(f.Fd()), 0, 4, unix.PROT_WRITE, unix.MAP_SHARED)
			if err := errors.Join(err, f.Close()); err != nil {
				return err
			}
			m[0] = 'x'
			return unix.Munmap(m)
		}, []string{"a/f"}},
		{"through a link outside",
			func(_, o string) error { return os.WriteFile(o+"/link", []byte("other"), 0o600) },
			nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			root, outside := dir+"/root", dir+"/outside"
			for _, name := range []string{
				root + "/a/f", root + "/a/d/deep", root + "/b/x", root + "/linked", outside + "/tree/in/f",
			} {
				write(t, name)
			}
			if err := os.Link(root+"/linked", outside+"/link"); err != nil {
				t.Fatal(err)
			}
			w := Open([]string{root, root + "/a"}, nil)
			defer w.Close()
			if got, whole := w.Touched(); len(got) > 0 || !whole {
				t.Fatalf("before: %v, whole %v", got, whole)
			}
			if err := test.do(root, outside); err != nil {
				t.Fatal(err)
			}
			touched, whole := w.Touched()
			var got []string
			for _, touch := range touched {
				name, _ := filepath.Rel(root, touch.Path)
				got = append(got, name)
			}
			if !slices.Equal(got, test.want) || !whole {
				t.Errorf("touched %q, whole %v; want %q", got, whole, test.want)
			}
			if again, _ := w.Touched(); len(again) > 0 {
				t.Errorf("touched again: %v", again)
			}
		})
	}
}

// A list that is not whole says so: events that nobody took off the queue, and directories beyond the limit.
func TestNotWhole(t *testing.T) {
	root := t.TempDir()
	w := Open([]string{root}, nil)
	defer w.Close()
	w.mu.Lock() // nobody takes events off
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil {
		t.Fatal(err)
	}
	most, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range most {
		name := fmt.Sprintf("%s/%d", root, i)
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(root+"/late", 0o700); err != nil {
		t.Fatal(err)
	}
	w.mu.Unlock()
	if _, whole := w.Touched(); whole {
		t.Error("the queue has overflown and the list is whole")
	}
	if _, whole := w.Touched(); !whole {
		t.Error("nothing was lost since, and the list is not whole")
	}
	if err := os.WriteFile(root+"/late/f", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, whole := w.Touched(); !whole || !slices.Equal(got, []Touch{{root + "/late/f", Absent}}) {
		t.Errorf("in a directory of which the event was lost: %v, whole %v", got, whole)
	}
	w.mu.Lock()
	w.limit = len(w.dirs)
	w.mu.Unlock()
	if err := os.Mkdir(root+"/more", 0o700); err != nil {
		t.Fatal(err)
	}
	if _, whole := w.Touched(); whole {
		t.Error("a directory is not watched and the list is whole")
	}
}

// A watch knows of roots that were replaced, of directories that it does not watch, and of mounts below it.
func TestSees(t *testing.T) {
	root := t.TempDir() + "/root"
	for _, dir := range []string{root, root + ".new"} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w := Open([]string{root}, nil)
	defer w.Close()
	if n, _ := w.Size(); n != 1 || !w.Sees() {
		t.Errorf("%d directories, sees %v", n, w.Sees())
	}
	if err := errors.Join(os.Rename(root, root+".old"), os.Rename(root+".new", root)); err != nil {
		t.Fatal(err)
	}
	if w.Sees() {
		t.Error("its root was replaced")
	}
	if got := placesOf([]string{"/proc"}); !strings.Contains(got, " /proc ") || strings.Contains(got, " / / ") {
		t.Errorf("mounts below /proc: %s", got)
	}
}

// The watch follows a root that was removed and made again, with the same number perhaps, and directories
// that were exchanged. A list from meanwhile is not whole.
func TestWatchedAgain(t *testing.T) {
	t.Parallel()
	root := t.TempDir() + "/root"
	mkdir := func() error { return errors.Join(os.MkdirAll(root+"/a", 0o700), os.MkdirAll(root+"/b", 0o700)) }
	if err := mkdir(); err != nil {
		t.Fatal(err)
	}
	w := Open([]string{root}, nil)
	defer w.Close()
	for name, do := range map[string]func() error{
		"root": func() error {
			if err := os.RemoveAll(root); err != nil {
				return err
			}
			if _, whole := w.Touched(); whole {
				t.Error("there is no root, and the list is whole")
			}
			err := mkdir()
			if w.Sees() {
				t.Error("it sees a root that it does not watch")
			}
			return err
		},
		"exchange": func() error {
			return unix.Renameat2(unix.AT_FDCWD, root+"/a", unix.AT_FDCWD, root+"/b", unix.RENAME_EXCHANGE)
		},
		"mount": func() error {
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, d := range w.dirs {
				w.event(d.wd, unix.IN_UNMOUNT, 0, "") // and another is mounted in its place
				w.event(d.wd, unix.IN_IGNORED, 0, "")
			}
			return nil
		},
	} {
		if err := do(); errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
			t.Logf("%s: the file system cannot do it", name)
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		if _, whole := w.Touched(); whole {
			t.Errorf("%s: the list is whole", name)
		}
		for _, dir := range []string{"/a", "/b"} {
			if err := os.WriteFile(root+dir+"/"+name, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want := []Touch{{root + "/a/" + name, Absent}, {root + "/b/" + name, Absent}}
		if got, whole := w.Touched(); !slices.Equal(got, want) || !whole {
			t.Errorf("%s: touched %v, whole %v, want %v", name, got, whole, want)
		}
	}
}

func TestWalk(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"a/b", "c"} {
		if err := os.MkdirAll(root+"/"+dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/", root+"/c/out"); err != nil {
		t.Fatal(err)
	}
	var got []string
	Walk([]string{root}, func(dir string, entries []fs.DirEntry) {
		rel, _ := filepath.Rel(root, dir)
		got = append(got, fmt.Sprint(rel, len(entries)))
	})
	slices.Sort(got)
	if want := []string{".2", "a/b0", "a1", "c1"}; !slices.Equal(got, want) {
		t.Errorf("visited %q, want %q", got, want)
	}
}

// The first event of a name tells whether its file was there.
func TestBefore(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{"old", "gone", "moved", "mode"} {
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := Open([]string{root}, nil)
	defer w.Close()
	for _, do := range []func() error{
		func() error { return os.WriteFile(root+"/new", nil, 0o600) },
		func() error { return os.WriteFile(root+"/old", []byte("x"), 0o600) },
		func() error { return os.Remove(root + "/gone") },
		func() error { return os.Rename(root+"/moved", root+"/there") },
		func() error { return os.Chmod(root+"/mode", 0o700) },
		func() error { return os.MkdirAll(root+"/dir/sub", 0o700) },
		func() error { return os.WriteFile(root+"/dir/sub/f", nil, 0o600) },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	got, whole := w.Touched()
	want := []Touch{
		{
			root + "/dir",
			Absent,
		}, {root + "/dir/sub", Absent}, {root + "/dir/sub/f", Absent}, {root + "/gone", Present},
		{
			root + "/mode",
			Present,
		}, {root + "/moved", Present}, {root + "/new", Absent}, {root + "/old", Present},
		{root + "/there", Unknown},
	}
	if !slices.Equal(got, want) || !whole {
		t.Errorf("touched %v, want %v", got, want)
	}
}
