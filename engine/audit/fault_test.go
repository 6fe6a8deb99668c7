package audit

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

func memOptions(d *memDisk) Options {
	return Options{Dir: "/s/audit", Host: "h", Clock: func() time.Time { return testTime }, Reserve: 512, CheckpointEvery: -1,
		CheckpointCount: 3, SegmentSize: 6 << 10, LockWait: await.Guard, fs: d}
}

// session opens a log, records some commands, and returns the ids of what was acknowledged.
// Each acknowledgement is held against what a power cut would leave at that moment.
func session(t *testing.T, d *memDisk, from, n int) (acked []string) {
	t.Helper()
	l, err := Open(memOptions(d))
	if err != nil {
		return nil
	}
	for i := from; i < from+n; i++ {
		id := fmt.Sprintf("<%d>", i)
		for _, r := range []engine.Record{decision(id, "true", engine.Allow), outcome(id)} {
			if l.Record(context.Background(), r) != nil {
				continue
			}
			want := fmt.Sprintf(`"kind":"%s","decision_id":"%s"`, r.Kind, id)
			if !strings.Contains(d.synced("/s/audit"), want) {
				t.Fatalf("%s of %s was acknowledged but is not durable", r.Kind, id)
			}
			acked = append(acked, want)
		}
	}
	_ = l.Close() // the fault under test may hit it
	return acked
}

// holds opens the log without faults and checks that nothing acknowledged is missing.
func holds(t *testing.T, d *memDisk, acked []string) {
	t.Helper()
	l, err := Open(memOptions(d))
	if err != nil {
		t.Fatalf("open after the fault: %v\n%s", err, d.dump())
	}
	if err := l.Record(context.Background(), decision("<after>", "true", engine.Deny)); err != nil {
		t.Fatalf("record after the fault: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatalf("close after the fault: %v", err)
	}
	r, err := verify(d, "/s/audit", VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// An outcome may stand without its decision when the decision was refused but had been written.
	for _, p := range r.Problems {
		if !strings.Contains(p.What, "an outcome without a decision") {
			t.Fatalf("verify after the fault:\n%s\n%s", r, d.dump())
		}
	}
	all := d.synced("/s/audit")
	for _, want := range append(acked, `"kind":"decision","decision_id":"<after>"`) {
		if strings.Count(all, want) != 1 {
			t.Fatalf("%s stands %d times in the log\n%s", want, strings.Count(all, want), d.dump())
		}
	}
}

func (d *memDisk) dump() string {
	var b strings.Builder
	for p, n := range d.entries {
		if strings.Contains(p, "audit-") || strings.Contains(p, "torn") {
			fmt.Fprintf(&b, "== %s\n", p)
			for line := range strings.Lines(string(n.data)) {
				fmt.Fprintf(&b, "%.130q\n", line)
			}
		}
	}
	return b.String()
}

var (
	faultRuns = flag.Int("faults.count", 0, "runs of TestRandomFaults; 0 for a few")
	faultSeed = flag.Uint64("faults.seed", 1, "the first of their seeds")
)

// faulty are two sessions on one disk, and what was acknowledged in both. Between them the process goes on, is
// killed, or the power is cut; afterwards nothing acknowledged may be missing.
func faulty(t *testing.T, powerCut bool, r *rand.Rand, first, second int, fault func(string, int) fault) {
	t.Helper()
	d := newMemDisk()
	d.fault = fault
	acked := session(t, d, 0, first)
	if d.dead {
		d.restart(powerCut, r)
	}
	acked = append(acked, session(t, d, first, second)...)
	d.restart(powerCut, r)
	holds(t, d, acked)
}

// operations is the number of operations of two sessions without a fault.
func operations(t *testing.T, first, second int) int {
	t.Helper()
	d := newMemDisk()
	session(t, d, 0, first)
	session(t, d, first, second)
	return d.ops
}

// Every operation of a session fails in every way, alone and with some of those after it; each time
// the process then goes on, is killed, or the power is cut.
func TestFaults(t *testing.T) {
	t.Parallel()
	total := operations(t, 2, 4)
	runs, where := 0, ""
	var trace []string
	defer func() {
		if t.Failed() {
			t.Log("failed with", where, trace)
		}
	}()
	step := 1
	if thin() {
		step = 23
	}
	kinds := map[string]fault{"EIO": ioError, "ENOSPC": full, "short": short, "kill": kill, "killed": killed}
	for name, kind := range kinds {
		for at := 1; at <= total; at += step {
			for variant := range 8 {
				runs++
				where = fmt.Sprintf("%s at operation %d of %d, variant %d", name, at, total, variant)
				r := rand.New(rand.NewPCG(uint64(at), uint64(variant)))
				trace = nil
				faulty(t, variant&2 == 2, r, 2, 4, func(op string, n int) fault {
					trace = append(trace, fmt.Sprint(n, op))
					switch {
					case n == at, variant&1 == 1 && n > at && n < at+20 && r.IntN(3) == 0:
						return kind
					}
					return none
				})
			}
		}
	}
	t.Logf("%d runs, faults at each of %d operations", runs, total)
	if runs < 10000 && !thin() {
		t.Errorf("only %d runs", runs)
	}
}

// Sessions of random lengths meet faults of all kinds at random operations. make faults makes many such runs.
func TestRandomFaults(t *testing.T) {
	t.Parallel()
	runs := *faultRuns
	if runs == 0 {
		runs = 200
	}
	totals := map[[2]int]int{}
	faults, kills, cuts := 0, 0, 0
	seed := *faultSeed
	defer func() {
		if t.Failed() {
			t.Logf("failed with -faults.seed=%d", seed)
		}
	}()
	for range runs {
		r := rand.New(rand.NewPCG(seed, 12))
		sizes := [2]int{1 + r.IntN(4), 1 + r.IntN(5)}
		if totals[sizes] == 0 {
			totals[sizes] = operations(t, sizes[0], sizes[1])
		}
		at := map[int]fault{}
		for range 1 + r.IntN(4) {
			at[1+r.IntN(totals[sizes])] = []fault{ioError, full, short, kill, killed}[r.IntN(5)]
		}
		powerCut := r.IntN(2) == 0
		if powerCut {
			cuts++
		}
		faulty(t, powerCut, r, sizes[0], sizes[1], func(_ string, n int) fault {
			f := at[n]
			if f != none {
				faults++
			}
			if f == kill || f == killed {
				kills++
			}
			return f
		})
		seed++
	}
	t.Logf("%d runs from seed %d: %d faults, %d kills, %d power cuts", runs, *faultSeed, faults, kills, cuts)
	if runs >= 100 && (faults == 0 || kills == 0 || cuts == 0) {
		t.Error("some kind of fault was not tried")
	}
}

func TestFullDiskKeepsOutcomes(t *testing.T) {
	t.Parallel()
	d := newMemDisk()
	o := memOptions(d)
	o.Reserve, o.SegmentSize = 8<<10, 1<<20
	l := mustOpen(t, o)
	ctx := context.Background()
	if err := l.Record(ctx, decision("run", "sleep 9", engine.Allow)); err != nil {
		t.Fatal(err)
	}
	d.mu.Lock()
	d.capacity = d.used() + 100
	d.mu.Unlock()
	for i := range 3 {
		err := l.Record(ctx, decision("no", "true", engine.Allow))
		if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "free space or set audit.dir") {
			t.Fatalf("decision %d on a full disk: %v", i, err)
		}
	}
	if err := l.Record(ctx, outcome("run")); err != nil {
		t.Fatalf("outcome on a full disk: %v", err)
	}
	if err := l.Record(ctx, decision("no", "true", engine.Allow)); !errors.Is(err, ErrFull) {
		t.Fatalf("decision while the reserve is used up: %v", err)
	}
	d.mu.Lock()
	d.capacity = 0
	d.mu.Unlock()
	if err := l.Record(ctx, decision("yes", "true", engine.Deny)); err != nil {
		t.Fatalf("decision after space was freed: %v", err)
	}
	if got := refusals(d); !slices.Equal(got, []int64{4}) {
		t.Errorf("on record after space was freed: %v refusals", got)
	}
	d.mu.Lock()
	d.capacity = d.used() + 100
	d.mu.Unlock()
	if err := l.Record(ctx, decision("no", "true", engine.Allow)); !errors.Is(err, ErrFull) {
		t.Fatalf("decision on a full disk again: %v", err)
	}
	_ = l.Close() // the last checkpoint may not fit
	d.mu.Lock()
	d.capacity = 0
	d.mu.Unlock()
	l = mustOpen(t, o) // another process tells of what the first one refused
	if err := l.Record(ctx, decision("more", "true", engine.Deny)); err != nil {
		t.Fatal(err)
	}
	if got := refusals(d); !slices.Equal(got, []int64{4, 1}) {
		t.Errorf("on record from another process: %v refusals", got)
	}
	mustClose(t, l)
	r, err := verify(d, "/s/audit", VerifyOptions{})
	if err != nil || !r.OK || r.Decisions != 3 || r.Outcomes != 1 {
		t.Errorf("%v\n%s", err, r)
	}
}

// refusals lists the counts of the full records on a disk.
func refusals(d *memDisk) (counts []int64) {
	for line := range strings.Lines(d.synced("/s/audit")) {
		var b fullBody
		if strings.Contains(line, `"kind":"full"`) && bodyOf([]byte(line), &b) == nil {
			counts = append(counts, b.Refused)
		}
	}
	return counts
}

// A batch that mixes outcomes and decisions on a full disk loses only the decisions.
func TestFullDiskMixedBatch(t *testing.T) {
	t.Parallel()
	d := newMemDisk()
	o := memOptions(d)
	o.Reserve = 8 << 10
	l := mustOpen(t, o)
	if err := l.Record(context.Background(), decision("run", "true", engine.Allow)); err != nil {
		t.Fatal(err)
	}
	d.mu.Lock()
	d.capacity = d.used() + 100
	d.mu.Unlock()
	batch := []*request{}
	for _, r := range []engine.Record{decision("no", "true", engine.Allow), outcome("run")} {
		p, err := encode(r, testTime, nil, defaultRecord)
		if err != nil {
			t.Fatal(err)
		}
		batch = append(batch, &request{records: []payload{p}, result: make(chan error, 1)})
	}
	l.process(batch, false) // the committer is idle: nothing is queued
	if err := <-batch[0].result; !errors.Is(err, ErrFull) {
		t.Errorf("decision: %v", err)
	}
	if err := <-batch[1].result; err != nil {
		t.Errorf("outcome: %v", err)
	}
	_ = l.Close() // the last checkpoint may not fit
}

func TestDeletedAndReplacedFiles(t *testing.T) {
	t.Parallel()
	if !ownersKnown {
		leftout.Skip(t, leftout.Platform, "files have no inodes that could be compared on this platform")
	}
	o := testOptions(t)
	l := mustOpen(t, o)
	fill(t, l, 0, 2)
	name := l.path(segmentName(1))
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	record := func() error {
		return l.Record(context.Background(), decision("x", "true", engine.Deny))
	}
	must(os.Remove(name))
	for range 2 {
		if err := record(); !errors.Is(err, ErrTampered) {
			t.Fatalf("after deletion: %v", err)
		}
	}
	must(os.WriteFile(name, []byte(strings.Replace(string(content), `"d-1"`, `"d-7"`, 4)), 0o600))
	if err := record(); !errors.Is(err, ErrTampered) {
		t.Fatalf("after replacement by another content: %v", err)
	}
	must(os.WriteFile(name, content, 0o600))
	must(record()) // put back
	must(os.Truncate(name, 10))
	if err := record(); !errors.Is(err, ErrTampered) {
		t.Fatalf("after truncation: %v", err)
	}
	must(os.WriteFile(name, content, 0o600))
	if err := record(); !errors.Is(err, ErrTampered) {
		t.Fatalf("after the loss of the last record: %v", err)
	}
	must(record()) // the loss is on record, and the log goes on behind it
	mustClose(t, l)
	if r, err := Verify(o.Dir, VerifyOptions{}); err != nil || r.OK || !strings.Contains(r.String(), "nobody accepted this break") {
		t.Errorf("verify: %v\n%s", err, r)
	}
}
