package supervisor

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"testing"
)

// TestSharedLook lets many look at the processes at once. Each has just started one, and must see it: a
// look that had begun before is none of theirs.
func TestSharedLook(t *testing.T) {
	t.Parallel()
	var s scans
	var wg sync.WaitGroup
	var mu sync.Mutex
	looks := map[*scan]bool{}
	const lookers, times = 8, 15
	for range lookers {
		wg.Go(func() {
			for range times {
				cmd := exec.Command("sleep", "60")
				if err := cmd.Start(); err != nil {
					t.Error(err)
					return
				}
				look := s.take()
				if look.err != nil {
					t.Error(look.err)
				}
				is := func(p proc) bool { return p.pid == cmd.Process.Pid }
				if i := slices.IndexFunc(look.all, is); i < 0 || !slices.ContainsFunc(look.children[look.all[i].ppid], is) {
					t.Errorf("process %d is not seen", cmd.Process.Pid)
				}
				mu.Lock()
				looks[look] = true
				mu.Unlock()
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
			}
		})
	}
	wg.Wait()
}

// BenchmarkCloseMany measures the end of many commands at once, which should cost little more than that of one.
func BenchmarkCloseMany(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				s, err := New(Options{})
				if err != nil {
					b.Fatal(err)
				}
				for i := range n {
					c := command("sleep 60 & echo up; sleep 60")
					c.ID = fmt.Sprintf("many-%d-%d", n, i)
					p, err := s.Start(context.Background(), c)
					if err != nil {
						b.Fatal(err)
					}
					shows(b, p, "up")
				}
				b.StartTimer()
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
