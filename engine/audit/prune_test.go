package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
)

// Old files are removed and their hashes stay: the rest verifies, has proofs, goes on in processes that read the old
// files, and agrees with checkpoints from before. Without the hashes, or without the record, it does not verify.
func TestPrune(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	o.SegmentSize = 6 << 10
	idle := mustOpen(t, o)
	if err := idle.Record(t.Context(), decision("long", "sleep 9", engine.Allow)); err != nil {
		t.Fatal(err)
	}
	l := mustOpen(t, o)
	fill(t, l, 0, 10)
	mustClose(t, l)
	early, err := os.ReadFile(filepath.Join(o.Dir, CheckpointFile))
	if err != nil {
		t.Fatal(err)
	}
	l = mustOpen(t, o)
	fill(t, l, 10, 30)
	mustClose(t, l)
	first := filepath.Join(o.Dir, segmentName(1))
	if done, err := Prune(o, testTime, "ann"); err != nil || done.Files != 0 {
		t.Errorf("nothing is old enough: %+v, %v", done, err)
	}
	done, err := Prune(o, testTime.Add(time.Hour), "ann")
	if err != nil || done.Files < 3 || done.Records == 0 {
		t.Fatalf("pruned %+v, %v", done, err)
	}
	if _, err := os.Stat(first); err == nil {
		t.Error("the first file is still there")
	}
	// A process that last read a file that is gone.
	if err := idle.Record(t.Context(), outcome("long")); err != nil {
		t.Fatal(err)
	}
	mustClose(t, idle)
	r, err := Verify(o.Dir, VerifyOptions{Checkpoint: early})
	if err != nil || !r.OK || r.Pruned != done.Records {
		t.Fatalf("verify: %v\n%s", err, r)
	}
	if _, err := Prove(o.Dir, "d-39", nil); err != nil {
		t.Errorf("a proof of what is left: %v", err)
	}
	l = mustOpen(t, o)
	fill(t, l, 50, 20)
	mustClose(t, l)
	if again, err := Prune(o, testTime.Add(time.Hour), "ann"); err != nil || again.Files == 0 {
		t.Errorf("pruned again: %+v, %v", again, err)
	}
	mustVerify(t, o.Dir)
	hashes := filepath.Join(o.Dir, hashesName(1))
	kept, err := os.ReadFile(hashes)
	if err != nil {
		t.Fatal(err)
	}
	refuse := func(what string) {
		t.Helper()
		if r, err := Verify(o.Dir, VerifyOptions{}); err == nil && r.OK {
			t.Errorf("%s: it verifies\n%s", what, r)
		}
	}
	writeFile(t, hashes, string(append(kept[:len(kept)-1:len(kept)-1], kept[len(kept)-1]^1)))
	refuse("another hash")
	writeFile(t, hashes, string(kept[:len(kept)-32]))
	refuse("one hash less")
	writeFile(t, hashes, strings.Replace(string(kept), `"sha256":"`, `"sha256":"0`, 1))
	refuse("another digest than the record has")
	if err := os.Remove(hashes); err != nil {
		t.Fatal(err)
	}
	refuse("no hashes")
	writeFile(t, hashes, string(kept))
	mustVerify(t, o.Dir)
}

// A file that was removed by hand is missed although somebody wrote its hashes: no record tells of it.
func TestPruneNeedsARecord(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	o.SegmentSize = 6 << 10
	l := mustOpen(t, o)
	fill(t, l, 0, 30)
	_, fresh, err := l.condense(testTime.Add(time.Hour))
	if err != nil || len(fresh) == 0 {
		t.Fatalf("%d files, %v", len(fresh), err)
	}
	mustClose(t, l)
	mustVerify(t, o.Dir) // the files are still there
	for _, f := range fresh {
		if err := os.Remove(filepath.Join(o.Dir, segmentName(f.Segment))); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Verify(o.Dir, VerifyOptions{})
	if err != nil || r.OK || !strings.Contains(r.String(), fmt.Sprint(segmentName(1), ": the file was removed, and no record tells of that")) {
		t.Errorf("verify: %v\n%s", err, r)
	}
}
