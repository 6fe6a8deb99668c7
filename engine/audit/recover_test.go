package audit

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
)

// A crash can cut the last record at any byte, and leave zeros behind it.
func TestTornTailAtEveryOffset(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	l := mustOpen(t, o)
	fill(t, l, 0, 3)
	l.release() // as if it had been killed: neither Close nor a last checkpoint
	b, err := os.ReadFile(l.path(segmentName(1)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // its file is cut under it
	lines := bytes.SplitAfter(b, []byte("\n"))
	start := len(b)
	for _, line := range lines[len(lines)-4:] {
		start -= len(line)
	}
	runs := 0
	for cut := start; cut <= len(b); cut++ {
		if thin() && cut%31 != 0 {
			continue
		}
		for _, zeros := range []int{0, 4096} {
			runs++
			d, n := memCopy(t, o)
			n.data = append(slices.Clone(b[:cut]), make([]byte, zeros)...)
			whole := bytes.Count(b[:cut], []byte("\n"))
			torn := cut - (bytes.LastIndexByte(b[:cut], '\n') + 1) + zeros
			mo := memOptions(d)
			mo.SegmentSize = 0
			l := mustOpen(t, mo)
			if err := l.Record(context.Background(), decision("after", "true", engine.Deny)); err != nil {
				t.Fatal(err)
			}
			mustClose(t, l)
			r, err := verify(d, mo.Dir, VerifyOptions{})
			if err != nil || !r.OK {
				t.Fatalf("cut at %d, %d zeros: %v\n%s", cut, zeros, err, r)
			}
			want := int64(whole + 2) // the record after and a checkpoint
			if torn > 0 {
				want++
			}
			if r.Records != want && r.Records != want+1 || (r.Recoveries == 1) != (torn > 0) {
				t.Fatalf("cut at %d, %d zeros: want %d records\n%s", cut, zeros, want, r)
			}
			saved := 0
			for p, n := range d.entries {
				if strings.HasPrefix(p, "/s/audit/torn/") {
					saved += len(n.data)
				}
			}
			if saved != torn {
				t.Fatalf("cut at %d, %d zeros: %d bytes saved, %d torn", cut, zeros, saved, torn)
			}
		}
	}
	t.Logf("%d tails", runs)
}

func TestLostKey(t *testing.T) {
	t.Parallel()
	o, _ := smallLog(t, 2)
	sign, public, _ := keyPaths(o.Dir)
	if err := os.Remove(sign); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(o); !errors.Is(err, ErrNoKey) {
		t.Fatalf("open: %v", err)
	}
	old, err := os.ReadFile(public)
	if err != nil {
		t.Fatal(err)
	}
	acceptAll(t, o)
	l := mustOpen(t, o)
	fill(t, l, 10, 1)
	mustClose(t, l)
	fresh, err := publicKey(osFS{}, o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Verify(o.Dir, VerifyOptions{PublicKey: string(old) + fresh})
	if err != nil || !r.OK || len(r.Breaks) != 1 {
		t.Errorf("%v\n%s", err, r)
	}
	if r, err := Verify(o.Dir, VerifyOptions{}); err != nil || r.OK {
		t.Errorf("checkpoints of the old key pass with the new one: %v\n%s", err, r)
	}
}
