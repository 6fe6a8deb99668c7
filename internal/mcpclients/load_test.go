package mcpclients

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// TestLoadOverHTTP has ten clients of both eras call at once, each for its own word. Nobody may get the
// answer of another, and each call must leave exactly one decision and one outcome on record.
func TestLoadOverHTTP(t *testing.T) {
	const clients, calls = 10, 200
	p := newPlace(t)
	s := p.serve(t)
	var wg sync.WaitGroup
	decisions := make([][]string, clients)
	round := func(from, to int) {
		for i := range clients {
			wg.Go(func() {
				c := newHTTPClient(s.url, i%2 == 0)
				for n := from; n < to; n++ {
					word := fmt.Sprintf("client-%d-call-%d", i, n)
					out, err := c.call(t.Context(), n, "echo "+word)
					if err != nil || !out.Success || out.Stdout != word+"\n" {
						t.Errorf("call for %s: %v: %+v", word, err, out)
						return
					}
					decisions[i] = append(decisions[i], out.Decision)
				}
			})
		}
		wg.Wait()
	}
	round(0, calls/10)
	early := resident(t, s.cmd.Process.Pid)
	round(calls/10, calls)
	late := resident(t, s.cmd.Process.Pid)
	t.Logf("memory after %d calls %d MiB, after %d calls %d MiB", clients*calls/10, early>>20, clients*calls, late>>20)
	if late > 2*early {
		t.Errorf("memory grew from %d to %d bytes", early, late)
	}
	s.stop(t)

	known := map[string]int{}
	for _, ids := range decisions {
		for _, id := range ids {
			known[id]++
		}
	}
	if len(known) != clients*calls {
		t.Fatalf("%d different decisions for %d calls", len(known), clients*calls)
	}
	all := p.records(t)
	for _, kind := range []string{"decision", "outcome"} {
		seen := map[string]int{}
		for _, r := range ofKind(all, kind) {
			seen[r.Decision]++
			if known[r.Decision] != 1 || seen[r.Decision] != 1 {
				t.Errorf("%s %s: on record %d times, told to clients %d times", kind, r.Decision, seen[r.Decision], known[r.Decision])
			}
		}
		if len(seen) != clients*calls {
			t.Errorf("%d %ss on record, want %d", len(seen), kind, clients*calls)
		}
	}
}

// resident returns how much memory a process holds, or 0 where the system does not tell.
func resident(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	return 0
}
