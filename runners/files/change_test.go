package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
)

func TestWriteReplaces(t *testing.T) {
	t.Parallel()
	ways(t, func(t *testing.T, h Host) {
		dir := scratch(t)
		put(t, dir+"/f", "old")
		if err := os.Chmod(dir+"/f", 0o640); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(dir+"/f", dir+"/other"); err != nil {
			t.Fatal(err)
		}
		if err := write(h, dir+"/f", "new", engine.WriteOptions{}); !errors.Is(err, fs.ErrExist) {
			t.Errorf("without leave to replace: %v", err)
		}
		if got := content(t, dir+"/f"); got != "old" {
			t.Errorf("refused, and yet the file holds %q", got)
		}
		if err := write(h, dir+"/f", "new", engine.WriteOptions{Replace: true}); err != nil {
			t.Error(err)
		}
		if f, other := content(t, dir+"/f"), content(t, dir+"/other"); f != "new" || other != "old" {
			t.Errorf("the file holds %q, its other name %q", f, other)
		}
		if diff := cmp.Diff([]string{"f", "other"}, names(t, dir)); diff != "" {
			t.Error(diff)
		}
		put(t, dir+"/d/x", "")
		if err := write(h, dir+"/d", "new", engine.WriteOptions{Replace: true}); !errors.Is(err, errDirectory) {
			t.Errorf("replace a directory: %v", err)
		}
	})
}

func TestWriteLike(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	put(t, dir+"/f", "old")
	when := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	if err := os.Chtimes(dir+"/f", when, when); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(dir + "/f")
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir+"/replaced", "old")
	for _, name := range []string{"/new", "/replaced"} {
		if err := write(Host{}, dir+name, "text", engine.WriteOptions{Replace: true, Like: info}); err != nil {
			t.Fatal(err)
		}
		if got, err := os.Lstat(dir + name); err != nil || !got.ModTime().Equal(when) || got.Mode() != info.Mode() {
			t.Errorf("%s: mode %v, time %v: %v", name, got.Mode(), got.ModTime(), err)
		}
	}
}

// What fails in the middle leaves what was there and nothing else.
func TestWriteIsWholeOrNothing(t *testing.T) {
	t.Parallel()
	ways(t, func(t *testing.T, h Host) {
		dir := scratch(t)
		put(t, dir+"/f", "old")
		broken := errors.New("broken")
		half := func() io.Reader { return io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken)) }
		for _, name := range []string{"/f", "/new"} {
			n, err := h.Write(dir+name, half(), engine.WriteOptions{Replace: true})
			if n != 4 || !errors.Is(err, broken) {
				t.Errorf("%s: wrote %d bytes: %v", name, n, err)
			}
			func() {
				defer func() {
					if recover() == nil {
						t.Error("the panic was swallowed")
					}
				}()
				_, _ = h.Write(dir+name, readerFunc(func([]byte) (int, error) { panic("reader") }), engine.WriteOptions{Replace: true})
			}()
		}
		if got := content(t, dir+"/f"); got != "old" {
			t.Errorf("the file holds %q", got)
		}
		if diff := cmp.Diff([]string{"f"}, names(t, dir)); diff != "" {
			t.Error(diff)
		}
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// A file that comes while a new one is written stays, by each way of placing it.
func TestWriteLosesNothingMeanwhile(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	late := readerFunc(func([]byte) (int, error) {
		put(t, dir+"/f", "theirs")
		return 0, io.EOF
	})
	if _, err := (Host{}).Write(dir+"/f", late, engine.WriteOptions{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("write: %v", err)
	}
	if got := content(t, dir+"/f"); got != "theirs" {
		t.Errorf("the file holds %q", got)
	}
	if diff := cmp.Diff([]string{"f"}, names(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestPlacing(t *testing.T) {
	t.Parallel()
	for name, way := range map[string]func(*draft, string) error{"rename": byRename, "link": byLink, "copy": byCopy} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := scratch(t)
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			put(t, dir+"/taken", "theirs")
			for _, to := range []string{"free", "taken"} {
				d := draft{dir: root, name: "draft"}
				if _, err := d.fill(strings.NewReader("ours")); err != nil {
					t.Fatal(err)
				}
				err := way(&d, to)
				if name == "rename" && errors.Is(err, errors.ErrUnsupported) {
					to = "" // this system has no such rename
				}
				if to == "free" && err != nil || to == "taken" && !errors.Is(err, fs.ErrExist) {
					t.Errorf("%s: %v", to, err)
				}
				if err := d.discard(); err != nil {
					t.Error(err)
				}
				if to == "" {
					return
				}
			}
			if free, taken := content(t, dir+"/free"), content(t, dir+"/taken"); free != "ours" || taken != "theirs" {
				t.Errorf("free holds %q, taken %q", free, taken)
			}
			if diff := cmp.Diff([]string{"free", "taken"}, names(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A draft is removed only as long as it is the one that was made.
func TestDiscardLeavesOthers(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	d := draft{dir: root, name: "draft"}
	if _, err := d.fill(strings.NewReader("ours")); err != nil {
		t.Fatal(err)
	}
	put(t, dir+"/theirs", "theirs")
	if err := os.Rename(dir+"/theirs", dir+"/draft"); err != nil {
		t.Fatal(err)
	}
	if err := d.discard(); err != nil || content(t, dir+"/draft") != "theirs" {
		t.Errorf("discarded what came in its place: %v", err)
	}
}

// What comes in the place of a file while its successor is written is replaced by name, and never followed.
func TestWriteReplacesWhatCameMeanwhile(t *testing.T) {
	t.Parallel()
	ways(t, func(t *testing.T, h Host) {
		for name, c := range map[string]struct {
			come func(dir string)
			left []string
			ok   bool
		}{
			"link":      {func(dir string) { link(t, dir+"/victim", dir+"/f") }, []string{"f", "victim"}, true},
			"file":      {func(dir string) { put(t, dir+"/f", "theirs") }, []string{"f", "victim"}, true},
			"directory": {func(dir string) { put(t, dir+"/f/x", "theirs") }, []string{"f", "victim"}, false},
			"nothing":   {func(string) {}, []string{"f", "victim"}, true},
		} {
			dir := scratch(t) + "/" + name
			put(t, dir+"/victim", "precious")
			put(t, dir+"/f", "old")
			late := readerFunc(func([]byte) (int, error) {
				if err := os.Remove(dir + "/f"); err != nil {
					t.Error(err)
				}
				c.come(dir)
				return 0, io.EOF
			})
			_, err := h.Write(dir+"/f", io.MultiReader(strings.NewReader("new"), late), engine.WriteOptions{Replace: true})
			if (err == nil) != c.ok {
				t.Errorf("%s: %v", name, err)
			}
			if got := content(t, dir+"/victim"); got != "precious" {
				t.Errorf("%s: the victim holds %q", name, got)
			}
			if diff := cmp.Diff(c.left, names(t, dir)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			if info, err := os.Lstat(dir + "/f"); err != nil || c.ok && !info.Mode().IsRegular() {
				t.Errorf("%s: %v %v", name, info, err)
			}
		}
	})
}
