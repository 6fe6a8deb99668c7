package supervisor

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/internal/await"
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
