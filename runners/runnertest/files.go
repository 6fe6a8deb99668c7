package runnertest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// files checks how file tools reach the environment's files: commands see the same ones, no link is followed,
// and writes are whole or not at all.
func (s *suite) files(t *testing.T) {
	p := s.place(t)
	for _, part := range []struct {
		name string
		run  func(t *testing.T, f *cabinet)
	}{
		{"the same as for commands", sameFiles},
		{"replace", replaces},
		{"copy", copies},
		{"whole or nothing", wholeOrNothing},
		{"missing", missingFiles},
		{"directories", directories},
		{"sorted", sortedListing},
		{"links", refusesLinks},
		{"pipes", refusesPipes},
		{"names that are no text", strangeNames},
		{"big", bigFile},
		{"unclean paths", uncleanPaths},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(t, newCabinet(t, p)) })
	}
}

// cabinet is a directory of one test inside the environment.
type cabinet struct {
	engine.Files
	*place
	dir string
}

func newCabinet(t *testing.T, p *place) *cabinet {
	t.Helper()
	p.needs(t, "mktemp")
	dir := strings.TrimSuffix(p.run(t, `cd "$(mktemp -d)" && pwd -P`).Stdout.Text, "\n")
	if !strings.HasPrefix(dir, "/") {
		leftout.Skip(
			t, leftout.Platform, "the environment names its directories in another way than with slashes: "+dir)
	}
	f := &cabinet{Files: p.env.Files(), place: p, dir: dir}
	t.Cleanup(func() { f.empty(t, dir) })
	return f
}

// empty removes a directory and all that is in it.
func (f *cabinet) empty(t *testing.T, dir string) {
	t.Helper()
	entries, err := f.ReadDir(dir)
	if err != nil {
		t.Errorf("clean up: %v", err)
	}
	for _, e := range entries {
		if e.IsDir() {
			f.empty(t, dir+"/"+e.Name())
		} else if err := f.Remove(dir + "/" + e.Name()); err != nil {
			t.Errorf("clean up: %v", err)
		}
	}
	if err := f.Remove(dir); err != nil {
		t.Errorf("clean up: %v", err)
	}
}

func (f *cabinet) put(t *testing.T, name, text string, o engine.WriteOptions) {
	t.Helper()
	if n, err := f.Write(f.dir+"/"+name, strings.NewReader(text), o); n != int64(len(text)) || err != nil {
		t.Fatalf("write %s: %d bytes: %v", name, n, err)
	}
}

func (f *cabinet) get(t *testing.T, name string) string {
	t.Helper()
	b, err := f.read(f.dir + "/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func (f *cabinet) read(path string) ([]byte, error) {
	r, err := f.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return io.ReadAll(r)
}

// list returns the names in a directory, "" for the cabinet itself.
func (f *cabinet) list(t *testing.T, name string) []string {
	t.Helper()
	entries, err := f.ReadDir(strings.TrimSuffix(f.dir+"/"+name, "/"))
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func (f *cabinet) in(t *testing.T, text string) string {
	t.Helper()
	return f.run(t, "cd "+f.dir+" && "+text).Stdout.Text
}

func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func sameFiles(t *testing.T, f *cabinet) {
	f.put(t, "a/b/ours.txt", "from a tool\n", engine.WriteOptions{})
	same(t, "a command reads", f.in(t, "cat a/b/ours.txt"), "from a tool\n")
	f.in(t,
		"echo from a command > a/b/theirs.txt; chmod 750 a/b/theirs.txt; TZ=UTC touch -t 202001020304 "+
			"a/b/theirs.txt")
	same(t, "a tool reads", f.get(t, "a/b/theirs.txt"), "from a command\n")
	info, err := f.Lstat(f.dir + "/a/b/theirs.txt")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "name", info.Name(), "theirs.txt")
	same(t, "size", info.Size(), int64(len("from a command\n")))
	same(t, "mode", info.Mode(), 0o750)
	same(t, "time", info.ModTime().UTC(), time.Date(2020, 1, 2, 3, 4, 0, 0, time.UTC))
	for _, name := range []string{"/a/b/ours.txt", "/a/b/theirs.txt"} {
		if err := f.Remove(f.dir + name); err != nil {
			t.Error(err)
		}
	}
	same(t, "a command sees", f.in(t, "ls -A a/b"), "")
}

func replaces(t *testing.T, f *cabinet) {
	f.in(t, "echo old > f; chmod 4640 f || chmod 640 f; ln f other")
	if _, err := f.Write(f.dir+"/f", strings.NewReader("new"), engine.WriteOptions{}); !errors.Is(err,
		fs.ErrExist) {
		t.Errorf("without leave to replace: %v", err)
	}
	same(t, "refused", f.get(t, "f"), "old\n")
	f.put(t, "f", "new\n", engine.WriteOptions{Replace: true})
	same(t, "replaced", f.get(t, "f"), "new\n")
	same(t, "its other name", f.get(t, "other"), "old\n")
	info, err := f.Lstat(f.dir + "/f")
	if err != nil || info.Mode() != 0o640 {
		t.Errorf("its mode is %v: %v", info.Mode(), err)
	}
	f.put(t, "new", "x", engine.WriteOptions{Replace: true})
	same(t, "all", f.list(t, ""), []string{"f", "new", "other"})
}

func copies(t *testing.T, f *cabinet) {
	f.in(t, "echo text > f; chmod 6751 f || chmod 751 f; touch -t 200102030405.06 f")
	info, err := f.Lstat(f.dir + "/f")
	if err != nil {
		t.Fatal(err)
	}
	f.put(t, "copy", "text\n", engine.WriteOptions{Like: info})
	got, err := f.Lstat(f.dir + "/copy")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "mode", got.Mode(), 0o751)
	if !got.ModTime().Equal(info.ModTime()) {
		t.Errorf("changed at %v, want %v", got.ModTime(), info.ModTime())
	}
}

func wholeOrNothing(t *testing.T, f *cabinet) {
	f.put(t, "f", "old", engine.WriteOptions{})
	broken := errors.New("broken")
	for _, name := range []string{"/f", "/new"} {
		half := io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken))
		if _, err := f.Write(f.dir+name, half, engine.WriteOptions{Replace: true}); err == nil {
			t.Errorf("%s was written although its content broke off", name)
		}
	}
	same(t, "content", f.get(t, "f"), "old")
	same(t, "names", f.list(t, ""), []string{"f"})
}

func missingFiles(t *testing.T, f *cabinet) {
	for _, path := range []string{f.dir + "/none", f.dir + "/none/below"} {
		_, lstat := f.Lstat(path)
		_, readlink := f.ReadLink(path)
		_, list := f.ReadDir(path)
		_, open := f.Open(path)
		for what, err := range map[string]error{"look": lstat, "read link": readlink, "list": list, "read": open,
			"delete": f.Remove(path)} {
			if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	same(t, "names", f.list(t, ""), []string{})
}

func directories(t *testing.T, f *cabinet) {
	for range 2 { // the second time it is there
		if err := f.Mkdir(f.dir + "/a/b/c"); err != nil {
			t.Fatal(err)
		}
	}
	f.put(t, "a/b/f", "x", engine.WriteOptions{})
	if err := f.Chmod(f.dir+"/a/b/c", fs.ModeSetgid|0o750); err != nil {
		t.Fatal(err)
	}
	if info, err := f.Lstat(f.dir + "/a/b/c"); err != nil || info.Mode() != fs.ModeDir|0o750 {
		t.Errorf("after a change of its mode: %v, %v", info, err)
	}
	if err := f.Mkdir(f.dir + "/a/b/f"); err == nil {
		t.Error("a directory in the place of a file")
	}
	if err := f.Remove(f.dir + "/a/b"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory with something in it was removed: %v", err)
	}
	if _, err := f.Open(f.dir + "/a/b"); err == nil {
		t.Error("a directory was opened as a file")
	}
	if _, err := f.Write(f.dir+"/a/b", strings.NewReader("x"), engine.WriteOptions{Replace: true}); err == nil {
		t.Error("a directory was replaced by a file")
	}
	if _, err := f.ReadDir(f.dir + "/a/b/f"); err == nil {
		t.Error("a file was listed")
	}
	if _, err := f.Open(f.dir + "/a/b/f/x"); err == nil {
		t.Error("there is something below a file")
	}
	if err := f.Remove(f.dir + "/a/b/c"); err != nil {
		t.Error(err)
	}
	same(t, "left", f.list(t, "a/b"), []string{"f"})
	// An environment that keeps file tools to its granted places says so of the root.
	if info, err := f.Lstat("/"); err != nil && !errors.Is(err, fs.ErrPermission) || err == nil &&
		!info.IsDir() {
		t.Errorf("the root: %v", err)
	}
}

func sortedListing(t *testing.T, f *cabinet) {
	var want []string
	for i := range 50 {
		want = append(want, fmt.Sprintf("f%02d", i))
	}
	for i := range want {
		f.put(t, want[(i*37)%50], "x", engine.WriteOptions{})
	}
	same(t, "names", f.list(t, ""), want)
	entries, err := f.ReadDir(f.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Size() != 1 || !e.Type().IsRegular() {
			t.Errorf("%s: %v", e.Name(), err)
		}
	}
}
