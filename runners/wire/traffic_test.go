package wire_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// start runs a text as the gate would.
func start(t testing.TB, env engine.Environment, text string, change func(*engine.Command)) engine.Process {
	t.Helper()
	c, err := env.Prepare(text, "/")
	if err != nil {
		t.Fatal(err)
	}
	c.ID, c.Timeout, c.Grace, c.Output = "D-"+rand.Text(), time.Hour, 100*time.Millisecond, 1<<16
	if change != nil {
		change(&c)
	}
	p, err := env.Start(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// valve is a writer that lets nothing through until it is opened.
type valve struct {
	open  chan struct{}
	bytes atomic.Int64
}

func (v *valve) Write(p []byte) (int, error) {
	v.bytes.Add(int64(len(p)))
	<-v.open
	return len(p), nil
}

// TestFloodStallsNobody has a command flood a reader that does not read. Others notice nothing.
func TestFloodStallsNobody(t *testing.T) {
	t.Parallel()
	env := pair(t, wire.Options{})
	v := &valve{open: make(chan struct{})}
	flood := start(t, env, "while :; do echo flood flood flood flood flood flood flood; done", func(c *engine.Command) { c.Stdout, c.Stderr = v, v })
	const room = 1 << 19 // between the flood and the valve: the window of a stream, and the queue of the reader
	await.True(t, "the flood fills the room", func() bool { out, _ := flood.Output(); return v.bytes.Load() > 0 && out.Bytes >= room })
	for range 20 {
		if x := start(t, env, "echo through", func(c *engine.Command) { c.Stdout = io.Discard }).Wait(); x.Stdout.Text != "through\n" || x.Error != nil {
			t.Fatalf("%+v", x)
		}
		if _, err := env.FS().Lstat("/"); err != nil {
			t.Fatal(err)
		}
	}
	if out, _ := flood.Output(); out.Bytes > 2*room {
		t.Errorf("the flood is not held up: %d bytes", out.Bytes)
	}
	flood.Kill("enough")
	close(v.open)
	if x := flood.Wait(); x.Killed != "enough" || x.Survivors != 0 || x.Stdout.Bytes < v.bytes.Load() {
		t.Errorf("%+v, %d bytes were passed on", x.Killed, v.bytes.Load())
	}
}

// TestStuckReader has a command end while its reader is stuck: the end is told all the same.
func TestStuckReader(t *testing.T) {
	t.Parallel()
	env := pair(t, wire.Options{})
	v := &valve{open: make(chan struct{})}
	defer close(v.open)
	p := start(t, env, "echo one", func(c *engine.Command) { c.Stdout = v })
	ended := make(chan engine.Exit, 1)
	go func() { ended <- p.Wait() }()
	x := await.Receive(t, "end while a reader is stuck", ended)
	if x.Code != 0 || x.Stdout.Text != "one\n" || x.Error == nil || !strings.Contains(x.Error.Error(), "the end may be missing") {
		t.Errorf("%+v", x)
	}
}

// What runs is what was judged, byte for byte, also where that is no UTF-8.
func TestTextAsItIs(t *testing.T) {
	t.Parallel()
	od := leftout.Command(t, "od")
	env := pair(t, wire.Options{})
	x := start(t, env, "printf '%s' '\xff\xc3\x28ü' \"$ODD\" | "+od+" -An -tx1", func(c *engine.Command) { c.Env = append(c.Env, "ODD=\xfe", "LC_ALL=C") }).Wait()
	if want := " ff c3 28 c3 bc fe\n"; x.Stdout.Text != want {
		t.Errorf("got %q, want %q, stderr %q", x.Stdout.Text, want, x.Stderr.Text)
	}
	if runtime.GOOS != "linux" {
		leftout.Skip(t, leftout.Platform, "names of files must be UTF-8 here: run this on Linux")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a\xff"), []byte("odd"), 0o600); err != nil {
		t.Fatal(err)
	}
	entries, err := env.FS().ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "a\xff" {
		t.Fatalf("%v, %v", entries, err)
	}
	if i, err := entries[0].Info(); err != nil || i.Size() != 3 || i.Name() != "a\xff" {
		t.Errorf("%v, %v", i, err)
	}
}

func TestContents(t *testing.T) {
	t.Parallel()
	files := pair(t, wire.Options{}).Files()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "new", "file")
	want := make([]byte, 5<<20+3)
	_, _ = rand.Read(want)
	if n, err := files.Write(path, iotest.HalfReader(bytes.NewReader(want)), engine.WriteOptions{}); err != nil || n != int64(len(want)) {
		t.Fatalf("%d bytes, %v", n, err)
	}
	r, err := files.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, want) || r.Close() != nil {
		t.Errorf("%d bytes of %d, %v", len(got), len(want), err)
	}
	// A file that is there stays, however much there would be to write.
	if _, err := files.Write(path, io.LimitReader(rand.Reader, 1<<40), engine.WriteOptions{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second file in its place: %v", err)
	}
	// Content that breaks off makes no file.
	odd := errors.New("disk on fire")
	other := filepath.Join(dir, "other")
	if _, err := files.Write(other, io.MultiReader(bytes.NewReader(want), iotest.ErrReader(odd)), engine.WriteOptions{}); !errors.Is(err, odd) {
		t.Errorf("content that breaks off: %v", err)
	}
	await.True(t, "the other side cleans up when it hears of the end", func() bool {
		left, err := os.ReadDir(dir)
		return err == nil && len(left) == 1
	})
	// A reader that goes early does no harm.
	if r, err = files.Open(path); err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadFull(r, make([]byte, 10))
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	one, err := files.Lstat(path)
	if err != nil {
		t.Fatalf("afterwards: %v", err)
	}
	two, _ := files.Lstat(path)
	above, _ := files.Lstat(dir)
	if runtime.GOOS != "windows" && !engine.SameFile(one, two) || engine.SameFile(one, above) {
		t.Errorf("which files are the same: %v, %v", engine.SameFile(one, two), engine.SameFile(one, above))
	}
}

func TestClosed(t *testing.T) {
	t.Parallel()
	env := pair(t, wire.Options{})
	if err := env.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := env.FS().Lstat("/"); err == nil {
		t.Error("a closed environment answers")
	}
	if _, err := env.Prepare("true", "/"); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("prepare: %v", err)
	}
}

// TestOutputBeforeTheBreak: what was seen of a command's output is not lost with the connection.
func TestOutputBeforeTheBreak(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- wire.Serve(context.Background(), far, here) }()
	env, err := wire.Connect(context.Background(), near, wire.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	p := start(t, env, "echo begun; echo careful >&2; sleep 60", nil)
	await.True(t, "it writes", func() bool { out, errs := p.Output(); return out.Bytes > 0 && errs.Bytes > 0 })
	_ = far.Close()
	x := p.Wait()
	if x.Error == nil || x.Stdout.Text != "begun\n" || x.Stderr.Text != "careful\n" {
		t.Errorf("after the connection broke: %+v", x)
	}
	<-served
}
