package audit

import (
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
)

// TestHosted holds that a host need not tell the end of a request that it asked about by its hook, and that
// the end of a denied one, or a second end, is a problem.
func TestHosted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		effect   engine.Effect
		mode     engine.Mode
		outcomes int
		ok       bool
	}{
		{engine.Allow, engine.Enforce, 0, true}, {engine.Allow, engine.Enforce, 1, true},
		{engine.Allow, engine.Enforce, 2, false},
		{engine.Ask, engine.Enforce, 0, true}, {engine.Ask, engine.Enforce, 1, true},
		{engine.Deny, engine.Enforce, 0, true}, {engine.Deny, engine.Enforce, 1, false},
		{engine.Deny, engine.Monitor, 1, true},
	} {
		o := testOptions(t)
		l := mustOpen(t, o)
		l.writer = "999999999-1" // no such process
		r := decision("d", "true", test.effect)
		body := r.Body.(engine.DecisionBody)
		body.Hook, body.Decision.Mode = "host", test.mode
		r.Body = body
		records := []engine.Record{{Kind: engine.KindStart, Body: map[string]any{"version": "x"}}, r}
		for range test.outcomes {
			records = append(records, outcome("d"))
		}
		if err := l.Record(t.Context(), records...); err != nil {
			t.Fatal(err)
		}
		mustClose(t, l)
		if r, err := Verify(o.Dir, VerifyOptions{}); err != nil || r.OK != test.ok || len(r.Orphans) != 0 {
			t.Errorf("%+v: %v\n%s", test, err, r)
		}
	}
}
