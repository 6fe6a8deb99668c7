package audit

import (
	"fmt"
	"math/rand/v2"
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
	writeFile(t, hashes, strings.Replace(string(kept), `"bytes":`, `"bytes":9`, 1))
	refuse("another size than the record has")
	writeFile(t, hashes, strings.Replace(string(kept), `{"segment"`, `{"by":"eve","segment"`, 1))
	refuse("a member that the record does not have")
	if err := os.Remove(hashes); err != nil {
		t.Fatal(err)
	}
	refuse("no hashes")
	writeFile(t, hashes, string(kept))
	mustVerify(t, o.Dir)
}

// A process that gave up its file, as after a failed write, goes on behind a prune of that file.
func TestPruneBesideAClosedFile(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	o.SegmentSize = 6 << 10
	idle := mustOpen(t, o)
	fill(t, idle, 0, 1)
	if err := idle.drop(); err != nil {
		t.Fatal(err)
	}
	l := mustOpen(t, o)
	fill(t, l, 10, 20)
	mustClose(t, l)
	if done, err := Prune(o, testTime.Add(time.Hour), "ann"); err != nil || done.Files == 0 {
		t.Fatalf("pruned %+v, %v", done, err)
	}
	if err := idle.Record(t.Context(), decision("later", "true", engine.Deny)); err != nil {
		t.Error(err)
	}
	mustClose(t, idle)
	if r := mustVerify(t, o.Dir); len(r.Breaks) > 0 {
		t.Errorf("a pruned file counts as a break:\n%s", r)
	}
}

// The age of a file is that of its newest record, also where the clock was set back before its last one.
func TestPruneAfterClockStep(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	o.SegmentSize = 6 << 10
	l := mustOpen(t, o)
	for i, at := range []time.Time{testTime, testTime.Add(48 * time.Hour), testTime} {
		r := decision(fmt.Sprint("clock-", i), "true", engine.Deny)
		r.Time = at
		if err := l.Record(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	fill(t, l, 0, 30)
	mustClose(t, l)
	if done, err := Prune(o, testTime.Add(time.Hour), "ann"); err != nil || done.Files != 0 {
		t.Errorf("pruned a file with a record from two days later: %+v, %v", done, err)
	}
	if done, err := Prune(o, testTime.Add(49*time.Hour), "ann"); err != nil || done.Files == 0 {
		t.Errorf("pruned %+v, %v once all records are old enough", done, err)
	}
}

// A prune that cannot name all open decisions in one record removes nothing.
func TestPruneWithoutRoom(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	o.SegmentSize, o.MaxRecord = 256<<10, minRecord
	l := mustOpen(t, o)
	for i := range 400 {
		id := fmt.Sprintf("%0*d", maxID, i)
		if err := l.Record(t.Context(), decision(id, "sleep 9", engine.Allow)); err != nil {
			t.Fatal(err)
		}
	}
	fill(t, l, 0, 100)
	mustClose(t, l)
	done, err := Prune(o, testTime.Add(time.Hour), "ann")
	if err == nil || !strings.Contains(err.Error(), "archive the log") || done.Files != 0 {
		t.Errorf("pruned %+v, %v", done, err)
	}
	mustVerify(t, o.Dir)
}

// Whatever operation of a prune fails or is the last of a killed process, the log verifies and goes on. The
// next prune removes the files.
func TestPruneFaults(t *testing.T) {
	t.Parallel()
	begin := func() *memDisk {
		d := newMemDisk()
		session(t, d, 0, 12)
		return d
	}
	prune := func(d *memDisk) (Pruned, error) { return Prune(memOptions(d), testTime.Add(time.Hour), "ann") }
	d := begin()
	from := d.ops
	if done, err := prune(d); err != nil || done.Files < 2 {
		t.Fatalf("pruned %+v, %v", done, err)
	}
	total := d.ops - from
	step := 1
	if thin() {
		step = 7
	}
	for _, kind := range []fault{ioError, full, kill, killed} {
		for at := 1; at <= total; at += step {
			for _, powerCut := range []bool{false, true} {
				d := begin()
				first := d.ops
				d.fault = func(_ string, n int) fault {
					if n == first+at {
						return kind
					}
					return none
				}
				_, _ = prune(d) // the fault under test may hit it
				d.restart(powerCut, rand.New(rand.NewPCG(uint64(at), 1)))
				holds(t, d, nil)
				if _, err := prune(d); err != nil {
					t.Fatalf("fault %d at operation %d of %d: the next prune: %v\n%s", kind, at, total, err, d.dump())
				}
				if r, err := verify(d, "/s/audit", VerifyOptions{}); err != nil || !r.OK || r.Segments > 2 {
					t.Fatalf("fault %d at operation %d of %d: %v\n%s", kind, at, total, err, r)
				}
			}
		}
	}
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
