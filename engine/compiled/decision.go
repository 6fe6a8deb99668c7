package compiled

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/sallyport-dev/sallyport/engine"
)

// Verbs are the sets that a rule may define, the strictest first.
var Verbs = []engine.Effect{engine.Deny, engine.Ask, engine.Warn}

// Severities are those that a rule may have, the least first.
var Severities = []string{"low", "medium", "high", "critical"}

// Decision is data.sallyport.main.decision, shape checked, places in it not.
type Decision struct {
	Effect  engine.Effect
	Reasons []Reason
}

// Reason is a finding of a rule, with its effect.
type Reason struct {
	Rule    string
	Effect  engine.Effect
	Finding Finding
}

// Finding is the place that a rule points at. Indexes are -1 where it names none.
type Finding struct {
	Command, Path int
	Message       string
}

// Explained holds the findings of one rule, before levels and exemptions, and the exempt ones.
type Explained struct {
	Found    map[engine.Effect][]Finding
	Exempted []Reason
}

// ErrNotEvaluated is the error for a decision about other rules than the loaded ones: a rule that is missing
// cannot refuse.
var ErrNotEvaluated = errors.New("the rules that were loaded were not all evaluated, or not they alone")

// Add adds the findings of another decision.
func (d *Decision) Add(other Decision) {
	d.Reasons = append(d.Reasons, other.Reasons...)
	if other.Effect == engine.Deny || other.Effect == engine.Ask && d.Effect == engine.Allow {
		d.Effect = other.Effect
	}
}

// Consistent reports whether the effect is the worst of the reasons, as it must be. A refusal
// without a reason is how the entrypoint says that the input has not the shape it knows.
func (d Decision) Consistent() error {
	worst := engine.Allow
	for _, r := range d.Reasons {
		switch {
		case r.Effect == engine.Deny:
			worst = engine.Deny
		case r.Effect == engine.Ask && worst != engine.Deny:
			worst = engine.Ask
		}
	}
	switch {
	case d.Effect == worst:
		return nil
	case d.Effect == engine.Deny:
		return errors.New(
			"the effect is deny and no reason says so: the input has not the shape that the policies know")
	default:
		return fmt.Errorf("the effect is %s where the reasons say %s", d.Effect, worst)
	}
}

// EffectOf reads an effect, which must be one of known.
func EffectOf(text string, known ...engine.Effect) (engine.Effect, error) {
	if e := engine.Effect(text); slices.Contains(known, e) {
		return e, nil
	}
	return engine.Deny, fmt.Errorf("unknown effect %q", text)
}

// SortReasons puts the worst first, then in the order of the text.
func SortReasons(reasons []engine.Reason) {
	rank := map[engine.Effect]int{engine.Deny: 0, engine.Ask: 1, engine.Warn: 2}
	slices.SortStableFunc(reasons, func(a, b engine.Reason) int {
		return cmp.Or(
			cmp.Compare(rank[a.Effect], rank[b.Effect]),
			cmp.Compare(slices.Index(Severities, b.Severity), slices.Index(Severities, a.Severity)),
			cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Command, b.Command),
			cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Message, b.Message),
		)
	})
}
