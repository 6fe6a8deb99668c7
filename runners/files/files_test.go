package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
)

// ways runs a test with each way of walking.
func ways(t *testing.T, test func(t *testing.T, h Host)) {
	t.Helper()
	for name, h := range map[string]Host{"system": {}, "stepwise": {stepwise: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, h)
		})
	}
}

// scratch is a directory of the test whose path has no link in it.
func scratch(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return filepath.ToSlash(dir)
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

// content is what a file holds, by a way that has nothing to do with the package.
func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func read(h Host, path string) (string, error) {
	f, err := h.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	return string(b), err
}

func write(h Host, path, text string, o engine.WriteOptions) error {
	_, err := h.Write(path, strings.NewReader(text), o)
	return err
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	ways(t, func(t *testing.T, h Host) {
		dir := scratch(t)
		file := dir + "/a/b/c.txt"
		if n, err := h.Write(file, strings.NewReader("hello"), engine.WriteOptions{}); n != 5 || err != nil {
			t.Fatalf("wrote %d bytes: %v", n, err)
		}
		if got, err := read(h, file); got != "hello" || err != nil {
			t.Errorf("read %q: %v", got, err)
		}
		if info, err := h.Lstat(file); err != nil || info.Name() != "c.txt" || info.Size() != 5 {
			t.Errorf("look: %v %v", info, err)
		}
		for range 2 { // the second time it is there already
			if err := h.Mkdir(dir + "/a/d/e"); err != nil {
				t.Error(err)
			}
		}
		if err := h.Symlink("b/c.txt", dir+"/a/l"); err != nil {
			t.Error(err)
		}
		if target, err := h.ReadLink(dir + "/a/l"); target != "b/c.txt" || err != nil {
			t.Errorf("link leads to %q: %v", target, err)
		}
		entries, err := h.ReadDir(dir + "/a")
		got := []string{}
		for _, e := range entries {
			got = append(got, e.Type().String()+e.Name())
		}
		if diff := cmp.Diff([]string{"d---------b", "d---------d", "L---------l"}, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		for _, p := range []string{"/a/l", "/a/b/c.txt", "/a/b", "/a/d/e", "/a/d", "/a"} {
			if err := h.Remove(dir + p); err != nil {
				t.Error(err)
			}
		}
		if left := names(t, dir); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}

func TestRoot(t *testing.T) {
	t.Parallel()
	ways(t, func(t *testing.T, h Host) {
		root := filepath.ToSlash(filepath.VolumeName(scratch(t))) + "/"
		if info, err := h.Lstat(root); err != nil || !info.IsDir() {
			t.Errorf("look at the root: %v %v", info, err)
		}
		if entries, err := h.ReadDir(root); err != nil || len(entries) == 0 {
			t.Errorf("%d entries of the root: %v", len(entries), err)
		}
		if err := h.Mkdir(root); err != nil {
			t.Error(err)
		}
		if err := h.Remove(root); err == nil {
			t.Error("the root was removed")
		}
	})
}

// Whatever element is a link, and whatever it leads to, nothing behind it is reached. That something
// is there to be reached is shown by package os.
func TestLinksAreNotFollowed(t *testing.T) {
	t.Parallel()
	ways(t, func(t *testing.T, h Host) {
		dir := scratch(t)
		put(t, dir+"/victim/sub/file", "precious")
		put(t, dir+"/ws/real/x", "")
		link(t, dir+"/victim", dir+"/ws/out")
		link(t, "../../victim", dir+"/ws/real/up")
		link(t, "real", dir+"/ws/inside")
		link(t, dir+"/victim/sub/file", dir+"/ws/last")
		link(t, "../victim/sub/file", dir+"/ws/relative")
		link(t, dir+"/victim/new", dir+"/ws/dangling")
		link(t, "loop", dir+"/ws/loop")
		if got := content(t, dir+"/ws/real/up/sub/file"); got != "precious" {
			t.Fatalf("the links lead nowhere: %q", got)
		}
		replace := engine.WriteOptions{Replace: true}
		for _, p := range []string{"out/sub/file", "real/up/sub/file", "inside/up/sub/file", "inside/x", "loop/x", "dangling/x", "last", "relative", "dangling"} {
			path := dir + "/ws/" + p
			refused := func(what string, err error) {
				t.Helper()
				if !errors.Is(err, ErrChanged) {
					t.Errorf("%s %s: %v", what, p, err)
				}
			}
			_, err := read(h, path)
			refused("read", err)
			refused("write", write(h, path, "x", replace))
			refused("make directory", h.Mkdir(path))
			_, err = h.ReadDir(path)
			refused("list", err)
			if strings.Contains(p, "/") {
				refused("write new", write(h, path, "x", engine.WriteOptions{}))
				refused("write beside", write(h, filepath.ToSlash(filepath.Dir(path))+"/new", "x", engine.WriteOptions{}))
				refused("delete", h.Remove(path))
				_, err = h.Lstat(path)
				refused("look", err)
				_, err = h.ReadLink(path)
				refused("read link", err)
				refused("link", h.Symlink("x", path+"2"))
			} else if err := write(h, path, "x", engine.WriteOptions{}); !errors.Is(err, fs.ErrExist) {
				t.Errorf("write new %s: %v", p, err)
			}
		}
		if err := h.Symlink("x", dir+"/ws/last"); !errors.Is(err, fs.ErrExist) {
			t.Errorf("link in the place of a link: %v", err)
		}
		// The link itself can be looked at and removed; what it leads to stays.
		if info, err := h.Lstat(dir + "/ws/last"); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("look at a link: %v %v", info, err)
		}
		for _, p := range []string{"/ws/last", "/ws/out", "/ws/dangling"} {
			if err := h.Remove(dir + p); err != nil {
				t.Error(err)
			}
		}
		if got := content(t, dir+"/victim/sub/file"); got != "precious" {
			t.Errorf("the file behind the links holds %q", got)
		}
		if diff := cmp.Diff([]string{"sub"}, names(t, dir+"/victim")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	ways(t, func(t *testing.T, h Host) {
		dir := scratch(t)
		put(t, dir+"/d/f", "")
		_, missing := h.Open(dir + "/none")
		_, below := h.Lstat(dir + "/none/x")
		_, through := h.Open(dir + "/d/f/x")
		_, directory := h.Open(dir + "/d")
		_, file := h.ReadDir(dir + "/d/f")
		for _, c := range []struct {
			err  error
			is   error
			text string
		}{
			{missing, fs.ErrNotExist, "read " + dir + "/none: no such file or directory: check the path"},
			{below, fs.ErrNotExist, "look at " + dir + "/none/x: no such file or directory: check the path"},
			{through, nil, "read " + dir + "/d/f/x: not a directory"},
			{directory, errDirectory, "read " + dir + "/d: it is a directory"},
			{file, nil, "list " + dir + "/d/f: not a directory"},
			{write(h, dir+"/d/f", "", engine.WriteOptions{}), fs.ErrExist, "write " + dir + "/d/f: file already exists: use another name, or replace it"},
			{h.Remove(dir + "/d"), nil, "delete " + dir + "/d: directory not empty: delete its contents first"},
			{h.Remove(dir + "/none"), fs.ErrNotExist, "delete " + dir + "/none: no such file or directory: check the path"},
			{h.Mkdir(dir + "/d/f"), nil, "make directory " + dir + "/d/f: not a directory"},
			{h.Symlink("x", dir+"/d/f"), fs.ErrExist, "link " + dir + "/d/f: file exists: use another name, or replace it"},
		} {
			if c.err == nil || c.is != nil && !errors.Is(c.err, c.is) {
				t.Errorf("%v is not %v", c.err, c.is)
			} else if sameWords() && c.err.Error() != c.text {
				t.Errorf("got  %v\nwant %s", c.err, c.text)
			}
		}
	})
}

func TestUncleanPaths(t *testing.T) {
	t.Parallel()
	ways(t, func(t *testing.T, h Host) {
		dir := scratch(t)
		for _, p := range []string{"", ".", "a", "./a", "../a", dir + "/", dir + "//a", dir + "/./a", dir + "/x/../a", dir + "/..", dir + "/a\x00b", "\x00", "//"} {
			err := write(h, p, "x", engine.WriteOptions{})
			if !errors.Is(err, errUnclean) || !strings.Contains(err.Error(), "give the whole path") {
				t.Errorf("write %q: %v", p, err)
			}
			if _, err := h.Lstat(p); !errors.Is(err, errUnclean) {
				t.Errorf("look at %q: %v", p, err)
			}
			if _, err := h.ReadDir(p); !errors.Is(err, errUnclean) {
				t.Errorf("list %q: %v", p, err)
			}
		}
		if left := names(t, dir); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}

// Entries are what they were when they were listed, also when another directory has come into the place.
func TestEntriesOutliveTheirDirectory(t *testing.T) {
	t.Parallel()
	ways(t, func(t *testing.T, h Host) {
		dir := scratch(t)
		put(t, dir+"/d/f", "12345")
		entries, err := h.ReadDir(dir + "/d")
		if err != nil || len(entries) != 1 {
			t.Fatalf("%d entries: %v", len(entries), err)
		}
		if err := os.Rename(dir+"/d", dir+"/e"); err != nil {
			t.Fatal(err)
		}
		put(t, dir+"/d/f", "")
		if info, err := entries[0].Info(); err != nil || info.Size() != 5 {
			t.Errorf("the entry has become another: %v %v", info, err)
		}
	})
}
