package audit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
)

const childEnv = "SALLYPORT_AUDIT_TEST_CHILD"

// TestMain lets the test binary play a writer of its own: with childEnv set it records until it is
// killed or done, and prints the id of each record that was acknowledged.
func TestMain(m *testing.M) {
	if spec := os.Getenv(childEnv); spec != "" {
		os.Exit(child(spec))
	}
	os.Exit(m.Run())
}

func child(spec string) int {
	var dir, name string
	var n int
	if _, err := fmt.Sscanf(spec, "%s %s %d", &dir, &name, &n); err != nil {
		return 2
	}
	l, err := Open(Options{Dir: dir, Reserve: -1, SegmentSize: 256 << 10, CheckpointCount: 50, LockWait: await.Guard})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	for i := range n {
		id := fmt.Sprintf("%s-%d", name, i)
		if err := l.Record(context.Background(), decision(id, "true", engine.Deny)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 4
		}
		fmt.Println(id)
	}
	if l.Close() != nil {
		return 5
	}
	return 0
}

// Several processes write one log, and each is killed again and again, while it writes on after some record.
func TestProcessesAndKills(t *testing.T) {
	t.Parallel()
	const writers, records = 4, 500
	dir := filepath.Join(t.TempDir(), "audit")
	var mu sync.Mutex
	acked := map[string]bool{}
	kills := 0
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(w)))
			for round, left := 0, records; left > 0; round++ {
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s w%d.%d %d", childEnv, dir, w, round, left))
				var stderr bytes.Buffer
				cmd.Stderr = &stderr
				out, err := cmd.StdoutPipe()
				if err == nil {
					err = cmd.Start()
				}
				if err != nil {
					t.Error(err)
					return
				}
				last := -1 // let it finish
				if round < 8 {
					last = r.IntN(left)
				}
				n := 0
				for lines := bufio.NewScanner(out); lines.Scan(); n++ {
					if n == last {
						_ = cmd.Process.Kill()
					}
					mu.Lock()
					acked[lines.Text()] = true
					mu.Unlock()
				}
				left -= n
				err = cmd.Wait()
				if err != nil && !strings.Contains(err.Error(), "killed") {
					t.Errorf("writer %d: %v: %s", w, err, stderr.String())
					return
				}
				if err == nil {
					return
				}
				mu.Lock()
				kills++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	mustClose(t, mustOpen(t, Options{Dir: dir, Reserve: -1, LockWait: await.Guard}))
	r := mustVerify(t, dir)
	seq := int64(0)
	for e, err := range Read(dir, Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq != seq {
			t.Fatalf("record %d where %d belongs", e.Seq, seq)
		}
		seq++
		delete(acked, e.DecisionID)
	}
	if len(acked) > 0 {
		t.Errorf("%d acknowledged records are missing: %v", len(acked), acked)
	}
	if r.Decisions < writers*records {
		t.Errorf("%d decisions, want %d or more", r.Decisions, writers*records)
	}
	t.Logf("%d kills, %d records, %d recoveries, %d segments", kills, r.Records, r.Recoveries, r.Segments)
}

// An allowed decision whose process lives is running; when the process is gone, it is an orphan.
func TestOrphans(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	l := mustOpen(t, o)
	ctx := context.Background()
	check := decision("checked", "true", engine.Allow)
	check.Body.(engine.DecisionBody).Input.Request.Tool = "check_command"
	asked := decision("asked", "true", engine.Ask)
	monitored := engine.DecisionBody{Decision: engine.Decision{ID: "monitored", Effect: engine.Deny, Mode: engine.Monitor}}
	for _, r := range []engine.Record{
		{Kind: engine.KindStart, Body: map[string]any{"version": "x"}},
		decision("open", "true", engine.Allow), decision("denied", "true", engine.Deny), check, asked,
		decision("refused", "true", engine.Ask), {Kind: engine.KindApproval, Decision: "refused", Body: engine.ApprovalBody{}},
		{Kind: engine.KindApproval, Decision: "asked", Body: engine.ApprovalBody{Granted: true}},
		{Kind: engine.KindDecision, Decision: "monitored", Body: monitored},
		{Kind: engine.KindStop},
	} {
		if err := l.Record(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, l)
	r := mustVerify(t, o.Dir)
	ids := func(os []Orphan) (out string) {
		for _, o := range os {
			out += o.Decision + " "
		}
		return out
	}
	if ids(r.Running) != "open asked monitored " || len(r.Orphans) != 0 {
		t.Errorf("running %s, orphans %s", ids(r.Running), ids(r.Orphans))
	}
	l = mustOpen(t, o)
	l.writer = "999999999-1" // no such process
	if err := l.Record(ctx, decision("orphan", "true", engine.Allow)); err != nil {
		t.Fatal(err)
	}
	mustClose(t, l)
	if r := mustVerify(t, o.Dir); ids(r.Orphans) != "orphan " || !strings.Contains(r.String(), "orphan       orphan: allowed at") {
		t.Errorf("report:\n%s", r)
	}
	l = mustOpen(t, o)
	if err := l.Record(ctx, outcome("denied")); err != nil {
		t.Fatal(err)
	}
	mustClose(t, l)
	if r, err := Verify(o.Dir, VerifyOptions{}); err != nil || r.OK || r.Unasked != 1 {
		t.Errorf("an outcome of a denied command passes: %v\n%s", err, r)
	}
}

func TestConcurrentWriters(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	a, b := mustOpen(t, o), mustOpen(t, o) // two logs in one process, as two processes would have
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			l := a
			if w%2 == 1 {
				l = b
			}
			fill(t, l, 1000*w, 20)
		})
	}
	wg.Wait()
	mustClose(t, a)
	mustClose(t, b)
	if r := mustVerify(t, o.Dir); r.Decisions != 320 || len(r.Orphans)+len(r.Running) != 0 {
		t.Errorf("report:\n%s", r)
	}
	if err := a.Record(context.Background(), outcome("x")); !errors.Is(err, ErrClosed) {
		t.Errorf("record after close: %v", err)
	}
	if err := a.Close(); !errors.Is(err, ErrClosed) {
		t.Errorf("second close: %v", err)
	}
}
