package policies_test

import (
	"cmp"
	"reflect"
	"sync"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/policies"
)

// TestIndexedJudgesAlike judges the cases and examples of each profile by topdown twice: with the rules
// indexed by the facts for which they wait, and with every rule asked about every input. The compiled rules,
// which are indexed, are held against the reference wherever a test judges.
func TestIndexedJudgesAlike(t *testing.T) {
	t.Parallel()
	type pair struct{ indexed, reference *rego.Evaluator }
	of := map[string]func() (pair, error){}
	for _, profile := range []string{"standard", "strict", "readonly", "massgen", "team"} {
		of[profile] = sync.OnceValues(func() (pair, error) {
			e, err := rego.New(t.Context(), rego.Options{
				Bundle: policies.FS(), Tested: true, Config: rego.Config{Profile: profile},
				Timeout: await.Guard,
			})
			if err != nil {
				return pair{}, err
			}
			reference, err := e.Reference()
			return pair{e, reference}, err
		})
	}
	questions, _ := asked(t)
	var judged, reasons int
	for _, q := range questions {
		profile := cmp.Or(q.settings.Profile, "standard")
		if !reflect.DeepEqual(q.settings.config(), rego.Config{Profile: q.settings.Profile}) {
			continue
		}
		p, err := of[profile]()
		if err != nil {
			t.Fatal(err)
		}
		in := q.input()
		got, err := p.indexed.Evaluate(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		want, err := p.reference.Evaluate(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		got.Spent, want.Spent = nil, nil
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: indexed %+v, unindexed %+v", q.command, got, want)
		}
		judged, reasons = judged+1, reasons+len(got.Reasons)
	}
	t.Logf("%d inputs, %d reasons", judged, reasons)
	if judged < 1500 || reasons < 1000 {
		t.Errorf("only %d inputs with %d reasons", judged, reasons)
	}
}
