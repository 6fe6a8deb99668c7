package engine_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// TestDecideRecordsAndStartsNothing holds that every decision about a host's request is on record and starts
// nothing, and that a decision without a record denies.
func TestDecideRecordsAndStartsNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		said, want engine.Effect
		fail       engine.Kind
	}{
		{said: engine.Allow, want: engine.Allow},
		{said: engine.Ask, want: engine.Ask},
		{said: engine.Deny, want: engine.Deny},
		{said: engine.Allow, fail: engine.KindDecision, want: engine.Deny},
	} {
		w := newWorld(t)
		w.policy.answer, w.recorder.fail = judgement(test.said), test.fail
		g, err := engine.New(w.options)
		if err != nil {
			t.Fatal(err)
		}
		out, err := g.Decide(t.Context(), "host", engine.Request{Command: "touch x"})
		if err != nil || out.Decision.Effect != test.want || out.Ran ||
			(out.Fault != nil) != (test.fail != "") {
			t.Errorf("%+v: %+v, %v", test, out, err)
		}
		if test.fail != "" {
			continue
		}
		want := []string{"record start", "record decision"}
		if test.said != engine.Deny {
			end := engine.Reported{Decision: out.Decision.ID, Effect: out.Decision.Effect, Host: "host"}
			if err := g.Report(t.Context(), end); err != nil {
				t.Error(err)
			}
			if test.said == engine.Ask {
				want = append(want, "record approval")
			}
			want = append(want, "record outcome")
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(append(want, "close", "record stop"), w.log.lines()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.said, diff)
		}
	}
}

// TestReportEndsRequest: the host reports the end of a request, and later requests see that it has ended.
func TestReportEndsRequest(t *testing.T) {
	t.Parallel()
	s := remembering(t, newWorld(t), func(*facts.Input) engine.Effect { return engine.Allow })
	for i := range 2 {
		out, err := s.Decide(t.Context(), "host", engine.Request{Command: "true"})
		if err != nil {
			t.Fatal(err)
		}
		end := engine.Reported{Decision: out.Decision.ID, Effect: out.Decision.Effect, Host: "host"}
		end.Exit.Code = 3
		for range 2 { // a host may say it again
			if err := s.Report(t.Context(), end); err != nil {
				t.Fatal(err)
			}
		}
		if i == 0 {
			continue
		}
		got := s.inputs[i].Session
		if n, e := got.Counts.Running, got.Recent[0]; n != 0 || e.State != "ended" || e.Exit != 3 {
			t.Errorf("%d run; the first: %+v", n, e)
		}
	}
}
