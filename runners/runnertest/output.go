package runnertest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sallyport-dev/sallyport/internal/await"
)

// output checks the kept part of a stream and its counts.
func (s *suite) output(t *testing.T) {
	p := s.place(t)
	t.Run("limits", func(t *testing.T) {
		for _, tc := range []struct {
			text         string
			limit        int
			whole        string // output of the command
			wantDrop     int64
			wantBeginEnd [2]string
		}{
			{"printf 0123456789", 10, "0123456789", 0, [2]string{"0123456789", "0123456789"}},
			{"printf 0123456789a", 10, "0123456789a", 1, [2]string{"01234\n[...", "...]\n6789a"}},
			{"printf 0123456789", 11, "0123456789", 0, [2]string{"0123456789", "0123456789"}},
			{"printf '01234\\n56789ab'", 10, "01234\n56789ab", 3,
				[2]string{"01234\n[... 3 bytes left out ...]\n", "...]\n789ab"}},
			{"printf 0123456789", 1, "0123456789", 9, [2]string{"[... 9 bytes left out ...]\n", "9"}},
			{"printf 0123456789", 0, "0123456789", 10, [2]string{"[... 10 bytes left out ...]\n", "]\n"}},
			// ä is two bytes: cut through, both halves go
			{"printf 'äääääääää'", 10, "äääääääää", 10, [2]string{"ää\n[...", "...]\nää"}},
		} {
			c := p.command(t, tc.text)
			c.Output = tc.limit
			got := p.end(t, c).Stdout
			if got.Bytes != int64(len(tc.whole)) || got.SHA256 != digest(tc.whole) || got.Dropped != tc.wantDrop {
				t.Errorf("%s, limit %d: %+v, want %d dropped", tc.text, tc.limit, got, tc.wantDrop)
			}
			if !strings.HasPrefix(got.Text, tc.wantBeginEnd[0]) || !strings.HasSuffix(got.Text, tc.wantBeginEnd[1]) {
				t.Errorf("%s, limit %d: text %q, want %q", tc.text, tc.limit, got.Text, tc.wantBeginEnd)
			}
		}
	})
	t.Run("joined", func(t *testing.T) {
		c := p.command(t, "for i in 1 2 3; do echo out $i; echo err $i >&2; done")
		c.Joined = true
		const want = "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n"
		if x := p.end(t, c); x.Stdout.Text != want || x.Stderr.Bytes != 0 {
			t.Errorf("%q and %q", x.Stdout.Text, x.Stderr.Text)
		}
	})
	t.Run("no UTF-8", func(t *testing.T) {
		x := p.run(t, `printf 'a\377\376b\300\200c'`)
		if x.Stdout.Text != "a\uFFFDb\uFFFDc" || x.Stdout.Bytes != 7 ||
			x.Stdout.SHA256 != digest("a\xff\xfeb\xc0\x80c") {
			t.Errorf("%+v", x.Stdout)
		}
	})
	t.Run("binary", func(t *testing.T) {
		c := p.command(t, "head -c 1000000 /dev/urandom")
		c.Output = 10_000
		got := p.end(t, c).Stdout
		if !utf8.ValidString(got.Text) || got.Bytes != 1_000_000 || got.Dropped < 990_000 || got.Dropped > 990_016 {
			t.Errorf("%d bytes, %d dropped, valid %v", got.Bytes, got.Dropped, utf8.ValidString(got.Text))
		}
	})
	t.Run("100 MB without a line end", func(t *testing.T) {
		const size = 100_000_000
		before := heap()
		x := p.run(t, fmt.Sprintf("head -c %d /dev/zero", size))
		grown := heap() - before
		sum := sha256.New()
		if _, err := io.CopyN(sum, zeros{}, size); err != nil {
			t.Fatal(err)
		}
		if x.Stdout.Bytes != size || x.Stdout.SHA256 != hex.EncodeToString(sum.Sum(nil)) ||
			x.Stdout.Dropped != size-1<<20 {
			t.Errorf("%d bytes, %d dropped, sha256 %s", x.Stdout.Bytes, x.Stdout.Dropped, x.Stdout.SHA256)
		}
		if grown > 16<<20 {
			t.Errorf("memory grew by %d bytes", grown)
		}
	})
	t.Run("flood", func(t *testing.T) {
		before := heap()
		c := p.command(t, "yes & yes >&2; wait")
		c.Output = 1 << 12 // which is looked at again and again
		proc := p.start(t, c)
		worst := int64(0)
		await.True(t, "both streams are flooded", func() bool {
			worst = max(worst, heap()-before)
			out, errs := proc.Output()
			return out.Bytes > 32<<20 && errs.Bytes > 32<<20
		})
		proc.Kill("enough")
		x := wait(t, proc)
		if x.Killed != "enough" || x.Survivors != 0 || x.Error != nil {
			t.Errorf("killed %q, %d and %d bytes, %d survivors, %v", x.Killed, x.Stdout.Bytes, x.Stderr.Bytes,
				x.Survivors, x.Error)
		}
		if worst > 16<<20 {
			t.Errorf("memory grew by %d bytes", worst)
		}
	})
}

func heap() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse)
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// zeros reads as /dev/zero does.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
