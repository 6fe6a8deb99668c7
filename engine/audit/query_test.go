package audit

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
)

func queryLog(t *testing.T) (Options, *Log) {
	t.Helper()
	o := testOptions(t)
	o.SegmentSize = 4 << 10
	l := mustOpen(t, o)
	fill(t, l, 0, 5)
	denied := decision("no", "rm -rf /", engine.Deny)
	body := denied.Body.(engine.DecisionBody)
	body.Decision.Reasons = []engine.Reason{{Rule: "dangerous/recursive_delete", Effect: engine.Deny}}
	denied.Body, denied.Time = body, testTime.Add(time.Hour)
	for _, r := range []engine.Record{denied, {Kind: engine.KindApproval, Decision: "a", Time: testTime.Add(2 * time.Hour), Body: engine.ApprovalBody{Granted: true, By: "terminal:alice"}}} {
		if err := l.Record(context.Background(), r); err != nil {
			t.Fatal(err)
		}
	}
	return o, l
}

func TestRead(t *testing.T) {
	t.Parallel()
	o, l := queryLog(t)
	mustClose(t, l)
	tests := map[string]struct {
		f    Filter
		want string
	}{
		"kind":          {Filter{Kind: engine.KindOutcome}, "d-0 d-1 d-2 d-3 d-4"},
		"last":          {Filter{Kind: engine.KindOutcome, Last: 2}, "d-3 d-4"},
		"last of many":  {Filter{Kind: engine.KindDecision, Last: 4}, "d-2 d-3 d-4 no"},
		"decision":      {Filter{Decision: "d-1"}, "d-1 d-1"},
		"effect":        {Filter{Effect: engine.Deny}, "no"},
		"rule":          {Filter{Rule: "dangerous/recursive_delete"}, "no"},
		"rule, effect":  {Filter{Rule: "dangerous/recursive_delete", Effect: engine.Allow}, ""},
		"since":         {Filter{Since: testTime.Add(time.Hour)}, "no a"},
		"since, until":  {Filter{Since: testTime.Add(time.Hour), Until: testTime.Add(2 * time.Hour)}, "no"},
		"nothing":       {Filter{Rule: "x/y"}, ""},
		"nothing, last": {Filter{Rule: "x/y", Last: 3}, ""},
	}
	for name, tt := range tests {
		var got []string
		for e, err := range Read(o.Dir, tt.f) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e.DecisionID)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: %q, want %q", name, s, tt.want)
		}
	}
	for e, err := range Read(o.Dir, Filter{Effect: engine.Deny}) {
		if err != nil {
			t.Fatal(err)
		}
		d, err := e.Decision()
		if err != nil || d.Decision.Reasons[0].Rule != "dangerous/recursive_delete" || d.Input.Request.Command != "rm -rf /" || !e.Time.Equal(testTime.Add(time.Hour)) {
			t.Errorf("%v: %+v", err, d)
		}
		if _, err := e.Outcome(); err == nil {
			t.Error("a decision is read as an outcome")
		}
	}
	for e := range Read(o.Dir, Filter{Kind: engine.KindOutcome}) {
		if b, err := e.Outcome(); err != nil || b.Runner != "local" {
			t.Errorf("%v: %+v", err, b)
		}
		break // reading can be given up
	}
	for e := range Read(o.Dir, Filter{Kind: engine.KindApproval}) {
		if b, err := e.Approval(); err != nil || !b.Granted {
			t.Errorf("%v: %+v", err, b)
		}
	}
}

func TestReadGoesOnAfterGarbage(t *testing.T) {
	t.Parallel()
	o, b := smallLog(t, 2)
	writeLog(t, o, []byte("garbage\n"+string(b)))
	bad, good := 0, 0
	for _, err := range Read(o.Dir, Filter{}) {
		if err != nil {
			bad++
		} else {
			good++
		}
	}
	if bad != 1 || good != strings.Count(string(b), "\n") {
		t.Errorf("%d bad, %d good", bad, good)
	}
	for _, err := range Read(filepath.Join(o.Dir, "none"), Filter{}) {
		if !os.IsNotExist(unwrapAll(err)) {
			t.Errorf("no directory: %v", err)
		}
	}
}

func unwrapAll(err error) error {
	for {
		u, ok := err.(interface{ Unwrap() error })
		if !ok {
			return err
		}
		if next := u.Unwrap(); next != nil {
			err = next
			if os.IsNotExist(err) {
				return err
			}
			continue
		}
		return err
	}
}

func TestFollow(t *testing.T) {
	t.Parallel()
	o, l := queryLog(t)
	ctx, cancel := context.WithCancel(await.Context(t))
	defer cancel()
	var got []string
	for e, err := range Follow(ctx, o.Dir, Filter{Kind: engine.KindDecision, Last: 2}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.DecisionID)
		switch len(got) {
		case 2:
			fill(t, l, 100, 3) // more than one file
		case 5:
			fill(t, l, 103, 1)
		case 6:
			cancel()
		}
	}
	mustClose(t, l)
	if diff := cmp.Diff([]string{"d-4", "no", "d-100", "d-101", "d-102", "d-103"}, got); diff != "" {
		t.Error(diff)
	}
	empty := testOptions(t)
	if err := os.MkdirAll(empty.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	looks := 0
	between := func() {
		if looks++; looks > 3 {
			t.Fatal("the first record is not seen")
		}
		l := mustOpen(t, empty)
		if looks == 2 { // the first records are written when there is one to write
			if err := l.Record(t.Context(), outcome("first")); err != nil {
				t.Fatal(err)
			}
		}
		mustClose(t, l)
	}
	for e, err := range follow(t.Context(), empty.Dir, Filter{Kind: engine.KindOutcome}, between) {
		if err != nil || e.DecisionID != "first" {
			t.Errorf("%v: %+v", err, e)
		}
		break
	}
}
