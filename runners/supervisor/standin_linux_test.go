package supervisor

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/starter"
)

// apart returns a Supervisor with stand-ins, after its first one waits.
func apart(t *testing.T) *Supervisor {
	t.Helper()
	s, err := New(Options{Apart: os.Args[0]})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	await.True(t, "a stand-in waits", func() bool {
		s.host.mu.Lock()
		defer s.host.mu.Unlock()
		return len(s.host.idle) > 0
	})
	return s
}

// TestSpoiledStandIn: a limit that a command gives its parent is not one of the next command.
func TestSpoiledStandIn(t *testing.T) {
	t.Parallel()
	s := apart(t)
	said := func() string { return start(t, s, command("ulimit -f; exit 3")).Wait().Stdout.Text }
	before := said()
	spoilt := map[int]bool{}
	for _, p := range s.host.idle {
		spoilt[p.PID] = true
		limit := unix.Rlimit{Cur: 1 << 30, Max: 1 << 30}
		if err := unix.Prlimit(p.PID, unix.RLIMIT_FSIZE, &limit, nil); err != nil {
			t.Fatal(err)
		}
	}
	if after := said(); after != before || len(spoilt) == 0 {
		t.Errorf("the limit is %q after %q, of %d parents", after, before, len(spoilt))
	}
	for _, p := range s.host.idle {
		if spoilt[p.PID] {
			t.Error("a parent with another limit waits for commands")
		}
	}
}

// TestStandInsBeyondBound: the usage of a command is measured before its parent ends, which is one too many.
func TestStandInsBeyondBound(t *testing.T) {
	t.Parallel()
	s := apart(t)
	h := s.host
	file := filepath.Join(t.TempDir(), "file")
	p := start(t, s, command(`until [ -e "$FILE" ]; do sleep 0.02; done
		x=$(head -c 30000000 /dev/zero | tr '\0' x)`, "FILE="+file))
	for len(h.idle) < maxStandIns {
		one, err := h.newStandIn()
		if err != nil {
			t.Fatal(err)
		}
		h.keepStandIn(one)
	}
	parent := p.root.parent.PID
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if x := p.Wait(); x.Code != 0 || x.MaxRSS < 30_000_000 {
		t.Errorf("%+v", x)
	}
	if slices.ContainsFunc(processIDs(t), func(pid int) bool { return pid == parent }) {
		t.Error("the parent lives on")
	}
	if h.resident[parent] != 0 {
		t.Error("the size of a parent that has ended is kept")
	}
}

// TestNameBeforeTheNumber: a shell may make a name before its stand-in has told its number.
func TestNameBeforeTheNumber(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 1)
	s := newSupervisor(t, Options{Apart: os.Args[0], Suspect: func(p string) (string, bool) {
		if filepath.Base(p) != "asked" {
			return "", false
		}
		asked <- struct{}{}
		return "/", true
	}})
	h := s.host
	if h.names == nil {
		leftout.Skip(t, leftout.Platform, strings.Join(s.Shortcomings(), "; "))
	}
	p, _ := h.freeStandIn()
	if p == nil {
		t.Fatal("no stand-in")
	}
	defer h.endStandIn(p)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	h.mu.Lock()
	h.begins++
	number := h.begins
	h.beginning[number] = true
	h.mu.Unlock()
	pid, err := p.Start(starter.Shell{Path: "/bin/sh", Dir: t.TempDir(), Argv: []string{"sh", "-c", "> asked"},
		Files: []uintptr{null.Fd(), null.Fd(), null.Fd()}})
	if err != nil {
		t.Fatal(err)
	}
	await.Receive(t, "question about the name", asked)
	for range 1000 {
		runtime.Gosched()
	}
	h.mu.Lock()
	delete(h.beginning, number)
	r := &root{host: h, id: "test", parent: p}
	h.register(r, pid)
	h.begun.Broadcast()
	h.mu.Unlock()
	p.Wait()
	if e, err := p.Reap(); err != nil || e.Status != 0 {
		t.Errorf("%+v %v", e, err)
	}
	h.mu.Lock()
	delete(h.roots, pid)
	h.mu.Unlock()
}

func processIDs(t *testing.T) []int {
	t.Helper()
	pids, err := listed()
	if err != nil {
		t.Fatal(err)
	}
	return pids
}

// TestStandInAfterClose: one that was being made at the end of the environment ends, too, and none is made
// then.
func TestStandInAfterClose(t *testing.T) {
	t.Parallel()
	s := apart(t)
	late, err := s.host.newStandIn()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s.host.keepStandIn(late)
	if p, err := s.host.newStandIn(); p != nil || err == nil || len(s.host.standIns) > 0 {
		t.Errorf("%v, %v, %d live", p, err, len(s.host.standIns))
	}
}
