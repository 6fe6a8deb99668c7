package audit

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/sallyport-dev/sallyport/engine"
)

// Leaves begins anywhere in a log of several files, and reads no more of a file than it must.
func TestLeaves(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	o.SegmentSize = 1 << 20
	l := mustOpen(t, o)
	for i := range 500 {
		if err := l.Record(t.Context(), decision(strconv.Itoa(i), strings.Repeat("x", 4<<10), engine.Deny)); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, l)
	var want []tlog.Hash
	for e, err := range Read(o.Dir, Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, tlog.RecordHash(e.Raw))
	}
	size := int64(len(want))
	if files, err := segmentsIn(osFS{}, o.Dir); err != nil || len(files) < 2 {
		t.Fatalf("the log has files %v, %v", files, err)
	}
	collect := func(first, end int64) (got []tlog.Hash, failed error) {
		for h, err := range Leaves(o.Dir, first, end) {
			if err != nil {
				return got, err
			}
			got = append(got, h)
		}
		return got, nil
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, first := range append([]int64{0, 1, size - 1}, r.Int64N(size), r.Int64N(size), r.Int64N(size)) {
		end := first + 1 + r.Int64N(size-first)
		got, err := collect(first, end)
		if err != nil || int64(len(got)) != end-first {
			t.Fatalf("records %d to %d: %d hashes, %v", first, end, len(got), err)
		}
		for i, h := range got {
			if h != want[first+int64(i)] {
				t.Fatalf("record %d has another hash", first+int64(i))
			}
		}
	}
	if _, err := collect(0, size+1); err == nil {
		t.Error("records that are not there are not missed")
	}
	if err := os.Remove(filepath.Join(o.Dir, segmentName(1))); err != nil {
		t.Fatal(err)
	}
	if _, err := collect(0, size); err == nil {
		t.Error("a file that is gone is not missed")
	}
	if got, err := collect(size-5, size); err != nil || len(got) != 5 {
		t.Errorf("the last records of a pruned log: %d hashes, %v", len(got), err)
	}
}
