package filetools_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/filetools"
)

// TestDiffsApply rebuilds the second file of random pairs from the first and the diff.
func TestDiffsApply(t *testing.T) {
	t.Parallel()
	p := newPlace(t, nil)
	r := rand.New(rand.NewPCG(1, 2))
	for range 150 {
		a := randomLines(r, nil)
		b := randomLines(r, a)
		p.put(map[string]string{"a": strings.Join(a, ""), "b": strings.Join(b, "")})
		got := compare(p, filetools.CompareFilesInput{File1: "a", File2: "b", ContextLines: ptr(r.IntN(5))})
		if rebuilt := apply(t, a, got.Diff); rebuilt != strings.Join(b, "") {
			t.Fatalf("from %q\nby %s\ncame %q\nnot  %q", a, got.Diff, rebuilt, b)
		}
	}
}

// randomLines makes lines of few kinds, or changes some.
func randomLines(r *rand.Rand, from []string) []string {
	out := []string{}
	for i := 0; i < len(from) || from == nil && i < 40; i++ {
		line := fmt.Sprintf("%d\n", r.IntN(12))
		switch {
		case from == nil:
			out = append(out, line)
		case r.IntN(5) == 0:
			out = append(out, line, from[i])
		case r.IntN(5) > 0:
			out = append(out, from[i])
		}
	}
	return out
}

// apply does what patch does, and checks the numbers of each hunk on the way.
func apply(t *testing.T, old []string, diff string) string {
	t.Helper()
	var b strings.Builder
	at, made := 0, 0
	for _, line := range strings.SplitAfter(diff, "\n") {
		switch {
		case line == "" || strings.HasPrefix(line, "---") || strings.HasPrefix(line, "+++"):
		case strings.HasPrefix(line, "@@"):
			left, right, _ := strings.Cut(strings.TrimPrefix(line, "@@ -"), " +")
			x, y := hunkSide(t, left), hunkSide(t, strings.TrimSuffix(right, " @@\n"))
			for ; at < x; at++ {
				b.WriteString(old[at])
				made++
			}
			if y != made {
				t.Errorf("%q stands at line %d of the new file", line, made)
			}
		case line[0] == ' ' || line[0] == '-':
			if old[at] != line[1:] {
				t.Fatalf("%q is not line %d, %q", line, at, old[at])
			}
			at++
			if line[0] == '-' {
				continue
			}
			fallthrough
		default:
			b.WriteString(line[1:])
			made++
		}
	}
	for ; at < len(old); at++ {
		b.WriteString(old[at])
	}
	return b.String()
}

// hunkSide returns how many lines come before a side of a hunk.
func hunkSide(t *testing.T, side string) int {
	t.Helper()
	start, count, _ := strings.Cut(side, ",")
	n, err := strconv.Atoi(start)
	if err != nil {
		t.Fatal(err)
	}
	if count != "0" {
		n--
	}
	return n
}

// TestHostilePairs: files made to be compared at great cost cost what grows with their size and no faster.
// What is measured is what is allocated, which does not depend on what else the machine does: an algorithm
// that looks for the shortest diff takes the square of the size here, of time and of memory.
func TestHostilePairs(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	shapes := map[string]func(lines int) (a, b string){
		"nothing in common":  func(n int) (string, string) { return numbered("a", n), numbered("b", n) },
		"few kinds of lines": func(n int) (string, string) { return kinds(r, n), kinds(r, n) },
		"reversed": func(n int) (string, string) {
			lines := strings.SplitAfter(numbered("x", n), "\n")
			var b strings.Builder
			for i := len(lines) - 1; i >= 0; i-- {
				b.WriteString(lines[i])
			}
			return numbered("x", n), b.String()
		},
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, nil)
			took := func(n int) uint64 {
				a, b := shape(n)
				p.put(map[string]string{"a": a, "b": b})
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				got := compare(p, filetools.CompareFilesInput{File1: "a", File2: "b"})
				runtime.ReadMemStats(&after)
				if got.Identical || got.Stats == nil || len(got.Diff) > 300<<10 {
					t.Fatalf("%d lines: %+v", n, got.Note)
				}
				return after.TotalAlloc - before.TotalAlloc
			}
			small, large := took(10_000), took(160_000)
			t.Logf("10,000 lines: %d KiB, 160,000 lines: %d KiB", small>>10, large>>10)
			if large > 32*small {
				t.Errorf("16 times the lines took %d KiB, after %d KiB", large>>10, small>>10)
			}
		})
	}
}

func numbered(prefix string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s%d\n", prefix, i)
	}
	return b.String()
}

func kinds(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString([]string{"{\n", "}\n", "\n", "x\n"}[r.IntN(4)])
	}
	return b.String()
}

// TestLargePairs: beyond the bounds files are compared and no diff is made. Memory stays bounded.
func TestLargePairs(t *testing.T) {
	p := newPlace(t, map[string]string{
		"a": strings.Repeat("a", 10<<20+1), "b": strings.Repeat("a", 10<<20) + "b", "a again": strings.Repeat("a", 10<<20+1), "longer": strings.Repeat("a", 10<<20+2),
		"lines a": strings.Repeat("x\n", 300_000), "lines b": strings.Repeat("y\n", 300_000),
		"full a": strings.Repeat(strings.Repeat("a", 63)+"\n", 160<<10), "full b": strings.Repeat(strings.Repeat("b", 63)+"\n", 160<<10),
	})
	for _, c := range []struct{ a, b, note string }{
		{"a", "b", "one is longer than 10485760 bytes"},
		{"a", "longer", "one is longer than 10485760 bytes"},
		{"lines a", "lines b", "one has 300000 lines"},
	} {
		if got := compare(p, filetools.CompareFilesInput{File1: c.a, File2: c.b}); got.Identical || !strings.Contains(got.Note, c.note) {
			t.Errorf("%s, %s: %+v", c.a, c.b, got)
		}
	}
	if got := compare(p, filetools.CompareFilesInput{File1: "a", File2: "a again"}); !got.Identical || got.Note != "" {
		t.Errorf("%+v", got)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := compare(p, filetools.CompareFilesInput{File1: "full a", File2: "full b"})
	runtime.ReadMemStats(&after)
	if got.Stats == nil || got.Stats.Changed != 160<<10 {
		t.Errorf("%+v", got)
	}
	allocated := (after.TotalAlloc - before.TotalAlloc) >> 20
	t.Logf("two files of 10 MiB without a common line: %d MiB allocated over all", allocated)
	if allocated > 600 {
		t.Errorf("%d MiB allocated", allocated)
	}
}
