package confirm

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

var (
	count = flag.Int("confirm.count", 2000,
		"how many programs TestConfirm runs, beside those of the tables")
	seed    = flag.Uint64("confirm.seed", 1, "the seed of the programs; 0 takes a random one")
	only    = flag.String("confirm.file", "", "run the texts of this file of JSON lines alone")
	foundIn = flag.String("confirm.found", "", "write the disagreements to this file")
	shrink  = flag.Int("confirm.shrink", 40, "how many disagreements to make small; the others are counted")
	rates   = flag.Bool("confirm.rates", false, "print the rate of each operator")
)

// finding is one disagreement.
type finding struct {
	Program
	Faults []string
	Small  string // the least text that still disagrees
	List   []string
}

// rate counts the programs of one operator: by verdict, and those that did harm and were allowed.
type rate struct {
	verdicts [5]int
	allowed  int
}

func (r rate) total() (n int) {
	for _, v := range r.verdicts {
		n += v
	}
	return n
}

// TestConfirm runs programs in the sandbox: whatever bash runs is in the list of engine/shell.
func TestConfirm(t *testing.T) {
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	h := newHost(t)
	var programs []Program
	if *only != "" {
		programs = listed(t, *only)
	} else {
		programs = corpus(t)
		if testing.Short() {
			*count /= 10
			programs = slices.DeleteFunc(programs, func(p Program) bool {
				return crc32.ChecksumIEEE([]byte(p.Text))%10 != 0
			})
		}
		for i := range *count {
			if i%2 == 0 {
				programs = append(programs, Generate(*seed, uint64(i)))
			} else {
				programs = append(programs, Mutate(*seed, uint64(i), seeds()))
			}
		}
	}
	t.Logf("seed %d, %d programs", *seed, len(programs))
	byOp, found, lost := compareAll(t, h, newJudge(t), programs)
	report(t, byOp)
	for _, p := range lost {
		t.Errorf("the sandbox broke at %q", p.Text)
	}
	slices.SortFunc(found, func(a, b finding) int { return cmp.Or(len(a.Small)-len(b.Small), strings.Compare(a.Small, b.Small)) })
	found = slices.CompactFunc(found, func(a, b finding) bool { return a.Small == b.Small })
	for i, f := range found {
		if i == *shrink {
			t.Errorf("and %d more: -confirm.found writes all", len(found)-i)
			break
		}
		t.Errorf("bash does what the list does not say:\n%s\n  not covered: %s\n  list: %s\n  from %s %v",
			f.Small, strings.Join(f.Faults, "\n               "), strings.Join(f.List, "\n        "), f.From, f.Ops)
	}
	if *foundIn != "" {
		var b strings.Builder
		for _, f := range found {
			line, _ := json.Marshal(f)
			b.Write(append(line, '\n'))
		}
		if err := os.WriteFile(*foundIn, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// compareAll runs the programs in two sandboxes, and makes those that disagree small.
func compareAll(t *testing.T, h *host, j *judge, programs []Program) (map[string]*rate, []finding,
	[]Program) {
	t.Helper()
	byOp := map[string]*rate{}
	var found []finding
	var lost []Program
	shrunk := 0
	var mu sync.Mutex
	var group sync.WaitGroup
	next := make(chan Program)
	for range 2 {
		s := h.sandbox(t)
		group.Go(func() {
			for p := range next {
				if !harmless(p) {
					continue
				}
				r := s.run(p)
				if strings.HasPrefix(r.Ended, "lost") {
					mu.Lock()
					lost = append(lost, p)
					mu.Unlock()
					s = h.sandbox(t)
					continue
				}
				c := judged(p, r, j)
				mu.Lock()
				for _, op := range append([]string{" all", " " + p.From}, p.Ops...) {
					if byOp[op] == nil {
						byOp[op] = new(rate)
					}
					byOp[op].verdicts[c.Verdict]++
					if c.Allowed {
						byOp[op].allowed++
					}
				}
				mu.Unlock()
				if c.Verdict == Disagrees {
					mu.Lock()
					f, small := whole(p, c), shrunk < *shrink
					shrunk++
					mu.Unlock()
					if small {
						f = s.smaller(p, j)
					}
					mu.Lock()
					found = append(found, f)
					t.Logf("disagrees: %q: %s", f.Small, strings.Join(f.Faults, "; "))
					mu.Unlock()
				}
			}
		})
	}
	for i, p := range programs {
		next <- p
		if done := i + 1; done%5000 == 0 {
			mu.Lock()
			t.Logf("%d of %d programs, %d disagree", done, len(programs), len(found))
			mu.Unlock()
		}
	}
	close(next)
	group.Wait()
	return byOp, found, lost
}

// judged compares, and adds that the built-in policies allow what did harm.
func judged(p Program, r Run, j *judge) Comparison {
	c := Compare(p, r)
	if c.Verdict == Disagrees && j.escapes(p) {
		c.Verdict, c.Faults = Opaque, nil
	}
	if harm := Harm(r); len(harm) > 0 && j.allows(p) {
		c.Allowed, c.Verdict, c.Faults = true, Disagrees, append(c.Faults, fmt.Sprintf("ALLOWED, and harms %q", harm))
	}
	return c
}

// harmless leaves out programs that would only fill the sandbox with processes.
func harmless(p Program) bool {
	prog, _ := Read(p)
	return prog == nil || !slices.ContainsFunc(prog.Commands, func(c shell.Command) bool {
		return slices.Contains(c.Marks, shell.MarkForkBomb)
	})
}

// smaller drops lines and words as long as the program disagrees.
func (s *sandbox) smaller(p Program, j *judge) finding {
	disagrees := func(q Program) (Comparison, bool) {
		r := s.run(q)
		c := judged(q, r, j)
		return c, c.Verdict == Disagrees && !strings.HasPrefix(r.Ended, "lost")
	}
	small := p
	if q := small; q.Mode != 0 {
		q.Mode = 0
		if _, ok := disagrees(q); ok {
			small = q
		}
	}
	budget := 60
	for _, cut := range []string{"\n", ";", " ", "\n", ";", " "} {
		parts := strings.SplitAfter(small.Text, cut)
		for size := max(1, len(parts)/2); size >= 1 && budget > 0; size /= 2 {
			for at := 0; at+size <= len(parts) && len(parts) > 1 && budget > 0; {
				rest := slices.Concat(parts[:at], parts[at+size:])
				q := small
				q.Text = strings.Join(rest, "")
				budget--
				if _, ok := disagrees(q); ok {
					small, parts = q, rest
				} else {
					at += size
				}
			}
		}
	}
	c, ok := disagrees(small)
	if !ok {
		small = p
		c, _ = disagrees(small)
	}
	f := whole(small, c)
	f.Program = p
	return f
}

// whole is a finding that nothing was dropped from.
func whole(p Program, c Comparison) finding {
	f := finding{Program: p, Faults: c.Faults, Small: p.Text}
	if p.Sh {
		f.Small = "#!sh\n" + f.Small
	}
	if p.Mode != 0 {
		f.Small = fmt.Sprintf("#mode %d\n", p.Mode) + f.Small
	}
	for _, c := range c.List {
		f.List = append(f.List, line(c))
	}
	return f
}

// line shows an entry of the list.
func line(c shell.Command) string {
	var b strings.Builder
	for _, w := range c.Words {
		switch {
		case w.Certainty == value.Exact && w.Glob:
			fmt.Fprintf(&b, "~%s ", w.Text)
		case w.Certainty == value.Exact:
			fmt.Fprintf(&b, "%q ", w.Text)
		default:
			fmt.Fprintf(&b, "%s<%s> ", w.Prefix, strings.TrimPrefix(w.Text, w.Prefix))
		}
	}
	for _, a := range c.Assigns {
		fmt.Fprintf(&b, "%s=%s(%s) ", a.Name, a.Value.Text, a.Value.Certainty)
	}
	for _, r := range c.Redirects {
		fmt.Fprintf(&b, "{%d:%d %q%q} ", r.FD, r.Mode, r.Target.Prefix, r.Body.Prefix)
	}
	if c.Dir.Path != Dir || !c.Dir.Known {
		fmt.Fprintf(&b, "in %s %t", c.Dir.Path, c.Dir.Known)
	}
	return b.String()
}

func report(t *testing.T, byOp map[string]*rate) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%-32s %8s %7s %7s %7s %7s %7s\n", "operator", "programs", "exact", "partial",
		"opaque", "refused", "wrong")
	for _, op := range slices.Sorted(maps.Keys(byOp)) {
		if !*rates && op[0] != ' ' {
			continue
		}
		r := byOp[op]
		fmt.Fprintf(&b, "%-32s %8d", op, r.total())
		for _, n := range r.verdicts[:4] {
			fmt.Fprintf(&b, " %6.1f%%", 100*float64(n)/float64(r.total()))
		}
		fmt.Fprintf(&b, " %7d %7d\n", r.verdicts[Disagrees], r.allowed)
	}
	t.Log("\n" + b.String())
}
