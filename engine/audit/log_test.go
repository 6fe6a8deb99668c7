package audit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/await"
)

var testTime = time.Date(2030, 1, 2, 3, 4, 5, 6000, time.UTC)

// thin says whether exhaustive tests should take only some of their cases.
func thin() bool { return underRace || testing.Short() }

// testOptions are those of a small log in a fresh directory.
func testOptions(t testing.TB) Options {
	t.Helper()
	return Options{Dir: filepath.Join(t.TempDir(), "audit"), Host: "test host", Clock: func() time.Time { return testTime },
		Reserve: 4096, CheckpointEvery: -1, LockWait: await.Guard}
}

func mustOpen(t testing.TB, o Options) *Log {
	t.Helper()
	l, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustClose(t testing.TB, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func decision(id, command string, effect engine.Effect) engine.Record {
	return engine.Record{Kind: engine.KindDecision, Decision: id, Time: testTime, Body: engine.DecisionBody{
		Decision: engine.Decision{ID: id, Effect: effect, Mode: engine.Enforce, Reasons: []engine.Reason{}},
		Input:    &facts.Input{Version: 1, Request: facts.Request{ID: id, Time: testTime, Tool: "execute_command", Command: command}},
	}}
}

func outcome(id string) engine.Record {
	return engine.Record{Kind: engine.KindOutcome, Decision: id, Time: testTime, Body: engine.OutcomeBody{Started: testTime, Runner: "local"}}
}

// fill records n allowed commands with their outcomes.
func fill(t testing.TB, l *Log, from, n int) {
	t.Helper()
	for i := from; i < from+n; i++ {
		id := fmt.Sprintf("d-%d", i)
		for _, r := range []engine.Record{decision(id, "echo "+id, engine.Allow), outcome(id)} {
			if err := l.Record(context.Background(), r); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func mustVerify(t testing.TB, dir string) Report {
	t.Helper()
	r, err := Verify(dir, VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !r.OK {
		t.Fatalf("verify:\n%s", r)
	}
	return r
}

// Records that are written together stand one behind the other, or not at all; a stop brings the last checkpoint.
func TestRecordsTogether(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	l := mustOpen(t, o)
	bad := engine.Record{Kind: "nonsense"}
	if err := l.Record(t.Context(), decision("bad", "true", engine.Allow), bad); err == nil {
		t.Error("a record that is none is written")
	}
	if err := l.Record(t.Context(), decision("a", "true", engine.Allow), outcome("a"), engine.Record{Kind: engine.KindStop}); err != nil {
		t.Fatal(err)
	}
	before := mustVerify(t, o.Dir)
	mustClose(t, l)
	r := mustVerify(t, o.Dir)
	if r.Decisions != 1 || r.Outcomes != 1 || r.Records != 2+3+1 || r.Records != before.Records {
		t.Errorf("report:\n%s", r)
	}
}

func TestRecordAndVerify(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	l := mustOpen(t, o)
	fill(t, l, 0, 10)
	mustClose(t, l)
	l = mustOpen(t, o)
	fill(t, l, 10, 10)
	mustClose(t, l)
	r := mustVerify(t, o.Dir)
	// segment + checkpoint, twice 20 records with a checkpoint each
	if r.Records != 2+2*21 || r.Decisions != 20 || r.Outcomes != 20 || len(r.Orphans) != 0 || r.Checkpoints != 4 {
		t.Errorf("report:\n%s", r)
	}
	b, err := os.ReadFile(filepath.Join(o.Dir, segmentName(1)))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(b), "\n")
	if !strings.HasPrefix(lines[2], `{"seq":2,"time":"2030-01-02T03:04:05.000006000Z","kind":"decision","decision_id":"d-0","writer":"`) {
		t.Errorf("line 3: %s", lines[2])
	}
	if strings.Index(lines[2], `,"prev":"`) != len(lines[2])-tailLen {
		t.Errorf("prev is not last: %s", lines[2])
	}
}
