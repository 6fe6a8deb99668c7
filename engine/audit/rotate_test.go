package audit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/internal/await"
)

func TestRotationAndPruning(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	o.SegmentSize, o.CheckpointCount = 8<<10, 5
	for i := range 3 {
		l := mustOpen(t, o)
		fill(t, l, 10*i, 10)
		mustClose(t, l)
	}
	r := mustVerify(t, o.Dir)
	if r.Segments < 4 || r.Decisions != 30 {
		t.Fatalf("report:\n%s", r)
	}
	remove := func(n int) {
		t.Helper()
		if err := os.Remove(filepath.Join(o.Dir, segmentName(n))); err != nil {
			t.Fatal(err)
		}
	}
	remove(1)
	if r, err := Verify(o.Dir, VerifyOptions{}); err != nil || r.OK {
		t.Errorf("a missing first file passes: %v\n%s", err, r)
	}
	pruned, err := Verify(o.Dir, VerifyOptions{AllowPruned: true})
	if err != nil || pruned.Pruned == 0 || pruned.Pruned+pruned.Records != r.Records {
		t.Errorf("pruned: %v\n%s", err, pruned)
	}
	for _, p := range pruned.Problems {
		if !strings.Contains(p.What, "an outcome without a decision") { // which may have been in the file that is gone
			t.Errorf("pruned: %s", p)
		}
	}
	l := mustOpen(t, o)
	fill(t, l, 90, 1)
	mustClose(t, l)
	remove(3)
	if r, err := Verify(o.Dir, VerifyOptions{AllowPruned: true}); err != nil || r.OK {
		t.Errorf("a missing file in the middle passes: %v\n%s", err, r)
	}
	if _, err := Open(o); !errors.Is(err, ErrTampered) {
		t.Errorf("open: %v", err)
	}
	acceptAll(t, o)
	mustClose(t, mustOpen(t, o))
}

func TestCheckpointByTime(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	o.CheckpointEvery = 10 * time.Millisecond
	l := mustOpen(t, o)
	fill(t, l, 0, 1)
	await.True(t, "a checkpoint covers more than the first two records, which are signed at once", func() bool {
		b, err := os.ReadFile(l.path(CheckpointFile))
		if err != nil {
			t.Fatal(err)
		}
		c, err := OpenCheckpoint(b, l.PublicKey())
		if err != nil {
			t.Fatal(err)
		}
		return c.Size > 2
	})
	mustClose(t, l)
}
