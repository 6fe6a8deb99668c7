package background

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// suffix is what a ring keeps, in the words of its definition: the longest end of all that was written
// that has no more than the given lines and bytes.
func suffix(all []byte, lines, size int) []byte {
	for i := range len(all) + 1 {
		end := all[i:]
		n := bytes.Count(end, []byte("\n"))
		if len(end) > 0 && end[len(end)-1] != '\n' {
			n++
		}
		if n <= lines && len(end) <= size {
			return end
		}
	}
	return nil
}

// mended is text as the ring gives it: every byte that is no UTF-8 becomes one U+FFFD.
func mended(b []byte) string { return string([]rune(string(b))) }

func TestRingKeeps(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name        string
		lines, size int
		writes      []string
		want        Chunk
	}{
		{"nothing", 5, 100, nil, Chunk{}},
		{"a partial line is visible", 5, 100, []string{"a\n", "par"}, Chunk{Text: "a\npar", Next: 5, Total: 5}},
		{"lines", 2, 100, []string{"a\nb\nc\n"}, Chunk{Text: "b\nc\n", Offset: 2, Next: 6, Dropped: 2, Total: 6}},
		{"a partial line is a line", 2, 100, []string{"a\nb\n", "c"}, Chunk{Text: "b\nc", Offset: 2, Next: 5, Dropped: 2, Total: 5}},
		{"empty lines", 2, 100, []string{"\n\n\n\n"}, Chunk{Text: "\n\n", Offset: 2, Next: 4, Dropped: 2, Total: 4}},
		{"one line", 1, 100, []string{"a\nb"}, Chunk{Text: "b", Offset: 2, Next: 3, Dropped: 2, Total: 3}},
		{"an endless line", 5, 4, []string{"abc", "def", "ghi"}, Chunk{Text: "fghi", Offset: 5, Next: 9, Dropped: 5, Total: 9}},
		{"more than all at once", 5, 4, []string{"abcdefghi"}, Chunk{Text: "fghi", Offset: 5, Next: 9, Dropped: 5, Total: 9}},
		{"the rest of a character goes with it", 5, 4, []string{"a€bc"}, Chunk{Text: "bc", Offset: 4, Next: 6, Dropped: 4, Total: 6}},
		{"invalid bytes", 5, 100, []string{"a\xff\xfeb"}, Chunk{Text: "a\uFFFD\uFFFDb", Next: 4, Total: 4}},
		{"a character in two writes", 5, 100, []string{"\xe2\x82", "\xac"}, Chunk{Text: "€", Next: 3, Total: 3}},
		{"half a character waits", 5, 100, []string{"a\xe2\x82"}, Chunk{Text: "a", Next: 1, Total: 3}},
		{"what cannot become a character does not wait", 5, 100, []string{"a\xe2\x82b"}, Chunk{Text: "a\uFFFD\uFFFDb", Next: 4, Total: 4}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := &ring{maxLines: tc.lines, maxBytes: tc.size}
			for _, w := range tc.writes {
				if n, err := r.Write([]byte(w)); n != len(w) || err != nil {
					t.Errorf("Write(%q) = %d, %v", w, n, err)
				}
			}
			if diff := cmp.Diff(tc.want, r.read(0, 0, false)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRingReadsOn(t *testing.T) {
	t.Parallel()
	r := &ring{maxLines: 10, maxBytes: 100}
	r.Write([]byte("ab€cd\xe2\x82"))
	for _, tc := range []struct {
		name  string
		from  int64
		limit int
		ended bool
		want  Chunk
	}{
		{"from an offset", 5, 0, false, Chunk{Text: "cd", Offset: 5, Next: 7, Total: 9}},
		{"at the end", 9, 0, false, Chunk{Offset: 9, Next: 9, Total: 9}},
		{"beyond the end", 12, 0, false, Chunk{Offset: 9, Next: 9, Total: 9}},
		{"a limit", 0, 2, false, Chunk{Text: "ab", Next: 2, Total: 9}},
		{"a limit within a character", 0, 3, false, Chunk{Text: "ab€", Next: 5, Total: 9}},
		{"a limit of one always goes on", 2, 1, false, Chunk{Text: "€", Offset: 2, Next: 5, Total: 9}},
		{"within a character", 3, 0, false, Chunk{Text: "\uFFFD\uFFFDcd", Offset: 3, Next: 7, Total: 9}},
		{"half a character at the very end", 5, 0, true, Chunk{Text: "cd\uFFFD\uFFFD", Offset: 5, Next: 9, Total: 9}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, r.read(tc.from, tc.limit, tc.ended)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRingAfterItsEnd(t *testing.T) {
	t.Parallel()
	r := &ring{maxLines: 10, maxBytes: 8}
	r.Write([]byte("abcdefghijkl"))
	if n := r.fit(); n != 8 || len(r.buf) != 8 {
		t.Errorf("fit: %d bytes in %d", n, len(r.buf))
	}
	r.Write([]byte("mn")) // a writer that comes late
	if c := r.read(0, 0, true); c.Text != "ghijklmn" || c.Total != 14 {
		t.Errorf("%+v", c)
	}
	r.clear()
	if c := r.read(0, 0, true); c.Text != "" || c.Total != 14 || c.Dropped != 14 || r.fit() != 0 {
		t.Errorf("%+v", c)
	}
	r.Write([]byte("op"))
	if c := r.read(14, 0, true); c.Text != "op" || c.Next != 16 {
		t.Errorf("%+v", c)
	}
}

// poll reads a ring to its present end in pieces, and holds each piece against what was written.
func poll(t *testing.T, r *ring, all []byte, lines, size, limit int, next int64) int64 {
	t.Helper()
	kept := suffix(all, lines, size)
	oldest := int64(len(all) - len(kept))
	for {
		c := r.read(next, limit, false)
		switch {
		case c.Total != int64(len(all)):
			t.Fatalf("total %d, want %d", c.Total, len(all))
		case c.Offset != next+c.Dropped || c.Offset < oldest && c.Text != "":
			t.Fatalf("asked for %d of %d kept from %d, got %+v", next, len(all), oldest, c)
		case c.Dropped > 0 && (c.Offset < oldest || c.Offset >= oldest+utf8.UTFMax):
			t.Fatalf("dropped up to %d, kept is from %d", c.Offset, oldest)
		case c.Text != mended(all[c.Offset:c.Next]):
			t.Fatalf("[%d:%d] = %q, want %q", c.Offset, c.Next, c.Text, mended(all[c.Offset:c.Next]))
		case limit > 0 && c.Next-c.Offset > int64(limit+utf8.UTFMax-1):
			t.Fatalf("%d bytes, limit %d", c.Next-c.Offset, limit)
		}
		if c.Next == next {
			if rest := all[next:]; len(rest) >= utf8.UTFMax || utf8.FullRune(rest) {
				t.Fatalf("stuck at %d of %d", next, len(all))
			}
			return next
		}
		next = c.Next
	}
}

// TestRingAgainstModel writes random text in random pieces and compares with the definition after each.
func TestRingAgainstModel(t *testing.T) {
	t.Parallel()
	parts := []string{"\n", "\n", "a", "bc", "\x00", "€", "𝄞", "é", "\xff", "\xe2\x82", "\x9d", strings.Repeat("x", 30), strings.Repeat("l\n", 9)}
	for seed := range uint64(400) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		lines, size := 1+rnd.IntN(8), 1+rnd.IntN(60)
		r := &ring{maxLines: lines, maxBytes: size}
		var all []byte
		var next int64
		for range 40 {
			var text strings.Builder
			for range rnd.IntN(5) {
				text.WriteString(parts[rnd.IntN(len(parts))])
			}
			p := []byte(text.String())
			if len(p) > 0 {
				p = p[rnd.IntN(len(p)):] // also from within a character
			}
			all = append(all, p...)
			r.Write(p)
			if rnd.IntN(3) == 0 {
				next = poll(t, r, all, lines, size, rnd.IntN(7), next)
			}
			if rnd.IntN(20) == 0 {
				r.fit()
			}
			a, b := r.spans(0, r.size)
			if got, want := string(a)+string(b), string(suffix(all, lines, size)); got != want {
				t.Fatalf("seed %d, %d lines, %d bytes: kept %q, want %q", seed, lines, size, got, want)
			}
			if len(r.buf) > max(size, 1) {
				t.Fatalf("seed %d: %d bytes of memory, %d allowed", seed, len(r.buf), size)
			}
		}
	}
}

func FuzzRing(f *testing.F) {
	f.Add([]byte("one\ntwo\nthree"), uint64(1), uint8(2), uint8(8), uint8(3))
	f.Add([]byte("a€𝄞\xff\xe2\x82\n"), uint64(2), uint8(1), uint8(4), uint8(1))
	f.Add(bytes.Repeat([]byte("\n"), 50), uint64(3), uint8(7), uint8(60), uint8(0))
	f.Fuzz(func(t *testing.T, all []byte, seed uint64, lines, size, limit uint8) {
		if len(all) > 2048 || lines == 0 || size == 0 {
			return // the model takes quadratic time
		}
		rnd := rand.New(rand.NewPCG(seed, 0))
		r := &ring{maxLines: int(lines), maxBytes: int(size)}
		var next int64
		for done := 0; done < len(all); {
			n := min(len(all)-done, rnd.IntN(80))
			r.Write(all[done : done+n])
			done += n
			if rnd.IntN(4) == 0 {
				next = poll(t, r, all[:done], int(lines), int(size), int(limit), next)
			}
		}
		next = poll(t, r, all, int(lines), int(size), int(limit), next)
		if c := r.read(next, 0, true); c.Next != int64(len(all)) || !utf8.ValidString(c.Text) {
			t.Fatalf("the end is %+v of %d", c, len(all))
		}
	})
}

func BenchmarkRingWrite(b *testing.B) {
	for _, bc := range []struct{ name, line string }{{"yes", "y\n"}, {"lines of 80", strings.Repeat("x", 79) + "\n"}, {"no line feed", "x"}} {
		b.Run(bc.name, func(b *testing.B) {
			p := []byte(strings.Repeat(bc.line, 64<<10/len(bc.line)))
			r := &ring{maxLines: 10_000, maxBytes: 1 << 20}
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				r.Write(p)
			}
		})
	}
}
