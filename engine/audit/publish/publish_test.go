package publish

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/audit"
)

// writer is a log whose checkpoints are collected.
type writer struct {
	*audit.Log
	dir   string
	notes [][]byte
}

func openLog(t *testing.T, dir string) *writer {
	t.Helper()
	w := &writer{dir: dir}
	l, err := audit.Open(audit.Options{
		Dir: dir, Reserve: -1, CheckpointEvery: -1, CheckpointCount: 3,
		Checkpoint: func(n []byte) { w.notes = append(w.notes, bytes.Clone(n)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Log = l
	return w
}

// add writes some records and returns the newest checkpoint.
func (w *writer) add(t *testing.T, n int) Note {
	t.Helper()
	for range n {
		if err := w.Record(t.Context(), engine.Record{Kind: engine.KindStop, Time: time.Now(), Body: engine.StopBody{}}); err != nil {
			t.Fatal(err)
		}
	}
	text := w.notes[len(w.notes)-1]
	c, err := audit.OpenCheckpoint(text, w.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	return Note{text, c}
}

func TestFile(t *testing.T) {
	t.Parallel()
	l := openLog(t, filepath.Join(t.TempDir(), "audit"))
	defer l.Close()
	f := file(filepath.Join(t.TempDir(), "notes"))
	var last Note
	for range 3 {
		last = l.add(t, 3)
		if _, err := f.take(t.Context(), last); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := Last(string(f)); err != nil || !bytes.Equal(got, last.Text) {
		t.Errorf("newest: %q, %v\nwant %q", got, err, last.Text)
	}
	text, err := os.ReadFile(string(f))
	if n := strings.Count(string(text), "— "); err != nil || n != 3 {
		t.Errorf("%d notes, %v", n, err)
	}
	if info, err := os.Stat(string(f)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	torn := append(text, last.Text[:len(last.Text)-3]...)
	if got := Newest(torn); !bytes.Equal(got, last.Text) {
		t.Errorf("behind a torn note: %q", got)
	}
}

func FuzzNewest(f *testing.F) {
	for _, s := range []string{"", "o\n1\nAA==\n\n— o sig\n", "o\n1\nAA==\n\n— o sig\n\no\n2\nBB==\n\n— o sig\n\n", "\n\n— \n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if got := Newest(text); !bytes.Equal(Newest(got), got) {
			t.Errorf("the newest note of %q is not its own newest", got)
		}
	})
}

// listen returns the path of a socket and the datagrams that arrive.
func listen(t *testing.T) (string, func() []byte) {
	t.Helper()
	dir, err := os.MkdirTemp("", "p") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return filepath.Join(dir, "s"), func() []byte {
		b := make([]byte, 64<<10)
		n, err := conn.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return b[:n]
	}
}

func TestSystemLogs(t *testing.T) {
	t.Parallel()
	l := openLog(t, filepath.Join(t.TempDir(), "audit"))
	defer l.Close()
	n := l.add(t, 3)
	socket, read := listen(t)
	if _, err := (syslog{socket}).take(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	line := string(read())
	_, object, _ := strings.Cut(line, ": checkpoint ")
	var got struct{ Note string }
	if err := json.Unmarshal([]byte(object), &got); err != nil || got.Note != string(n.Text) || !strings.HasPrefix(line, "<85>") {
		t.Errorf("syslog got %q, %v", line, err)
	}
	socket, read = listen(t)
	if _, err := (journal{socket}).take(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	want := append([]byte("SALLYPORT_NOTE\n"), binary.LittleEndian.AppendUint64(nil, uint64(len(n.Text)))...)
	if b := read(); !bytes.HasPrefix(b, []byte("MESSAGE=checkpoint of ")) || !bytes.Contains(b, append(append(want, n.Text...), '\n')) {
		t.Errorf("the journal got %q", b)
	}
	if _, err := (syslog{filepath.Join(t.TempDir(), "none")}).take(t.Context(), n); err == nil {
		t.Error("a socket that is not there takes a note")
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"/mnt/notes", "syslog:", "journald:", "command:/usr/bin/true", "https://w.example/x#" + testKey} {
		if err := Check(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{
		"", "notes", "ftp://x", "command:true", "command:", "http://w.example#" + testKey, "https://w.example", "https://#" + testKey,
		"https://w.example#w.example+00000000+" + strings.SplitN(testKey, "+", 3)[2], "https://u:p@w.example#" + testKey,
	} {
		if err := Check(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	if _, err := New(Options{Dir: "/var/log/s/audit", Targets: []string{"/var/log/s/keys/x"}}); err == nil {
		t.Error("a place beside the log is taken")
	}
}

// started is a publisher of one place, a command that calls run.
func started(t *testing.T, l *writer, warn func(error), run Run) *Publisher {
	t.Helper()
	p, err := New(Options{Dir: l.dir, Targets: []string{"command:/bin/x"}, Warn: warn, Run: run})
	if err != nil {
		t.Fatal(err)
	}
	p.Start(l.PublicKey())
	return p
}

// A place that never answers holds up neither the log nor the end, and lacks the newest checkpoint.
func TestLatePlace(t *testing.T) {
	t.Parallel()
	l := openLog(t, filepath.Join(t.TempDir(), "audit"))
	defer l.Close()
	began := make(chan struct{}, 10)
	p := started(t, l, func(error) {}, func(ctx context.Context, _ string, _ []byte) error {
		began <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})
	for range 100 {
		p.Offer(l.add(t, 3).Text)
	}
	<-began
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Close(ctx); err == nil || !strings.Contains(err.Error(), "command:/bin/x") {
		t.Errorf("the end does not name the place: %v", err)
	}
	taken, err := Read(l.dir)
	if err != nil || len(taken) != 1 || taken[0].Size != 0 || taken[0].Failed == "" {
		t.Errorf("noted: %+v, %v", taken, err)
	}
}

// The next process publishes a checkpoint that one process could not. The failure is told once.
func TestNextProcess(t *testing.T) {
	t.Parallel()
	l := openLog(t, filepath.Join(t.TempDir(), "audit"))
	defer l.Close()
	n := l.add(t, 3)
	told := make(chan error, 10)
	tried := make(chan struct{}, 10)
	p := started(t, l, func(err error) { told <- err }, func(context.Context, string, []byte) error {
		tried <- struct{}{}
		return errors.New("no way")
	})
	if err := <-told; !strings.Contains(err.Error(), "no way") {
		t.Errorf("told: %v", err)
	}
	if err := p.Close(t.Context()); err == nil {
		t.Error("the end says nothing of the failure")
	}
	got := make(chan []byte, 10)
	take := func(_ context.Context, _ string, in []byte) error { got <- bytes.Clone(in); return nil }
	p = started(t, l, func(err error) { t.Error(err) }, take)
	if text := <-got; !bytes.Equal(text, n.Text) {
		t.Errorf("the next process publishes %q", text)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if taken, err := Read(l.dir); err != nil || len(taken) != 1 || taken[0].Size != n.Checkpoint.Size || taken[0].Failed != "" {
		t.Errorf("noted: %+v, %v", taken, err)
	}
	p = started(t, l, func(err error) { t.Error(err) }, take)
	if err := p.Close(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("a checkpoint that the place has is published again: %d, %v", len(got), err)
	}
}
