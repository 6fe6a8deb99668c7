package plugins

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/lazyregexp"
)

// Replayed is a recorded decision and the decision under other policies.
type Replayed struct {
	Seq      int64         `json:"seq"`
	Time     time.Time     `json:"time"`
	Decision string        `json:"decision_id"`
	Tool     string        `json:"tool"`
	Command  string        `json:"command"`
	Agent    string        `json:"agent"`
	Mode     engine.Mode   `json:"mode"`
	Before   engine.Effect `json:"before"`
	After    engine.Effect `json:"after"`
	More     []string      `json:"more"`            // rules that would give a reason and did not, sorted
	Less     []string      `json:"less"`            // rules that did and would not
	Rules    []string      `json:"rules"`           // all that would
	Fault    string        `json:"fault,omitempty"` // why the policies could not judge it: that denies
}

// Changed reports whether anything would be different.
func (r Replayed) Changed() bool { return r.Before != r.After || len(r.More)+len(r.Less) > 0 }

// Replay is the result for a log.
type Replay struct {
	Decisions int        `json:"decisions"` // that were read
	Judged    int        `json:"judged"`
	NoInput   int        `json:"no_input"` // the facts could not be made at the time
	Cut       int        `json:"cut"`      // parts of the input were too long to be kept
	Broken    int        `json:"broken"`   // lines that are no record, or of another version
	All       []Replayed `json:"-"`        // those that were asked for, in the order of the log
}

// ReplayOptions select the records.
type ReplayOptions struct {
	Since, Until time.Time
	Keep         func(Replayed) bool // whether a decision is to be in All
	Read         func(bytes int)     // hears of progress; may be nil
	Complain     func(error)         // hears of each line that cannot be read, one after the other
}

// Judge judges the recorded decisions of a log again, under the policies of l. The facts are those that
// were recorded, but for the matches of the operator's patterns, which are those of l. It uses all
// processors.
func (o ReplayOptions) Judge(ctx context.Context, l *config.Loaded,
	entries iter.Seq2[audit.Entry, error]) (_ Replay, err error) {
	rules, err := RulePlugins(ctx, l)
	if err != nil {
		return Replay{}, err
	}
	defer func() { err = errors.Join(err, closeAll(rules)) }()
	l = pluginsLast(l)
	policies, err := Policies(ctx, l)
	if err != nil {
		return Replay{}, err
	}
	timed, err := policies.Reads("request", "time")
	if err != nil {
		return Replay{}, err
	}
	named, err := policies.Reads("request", "id")
	if err != nil {
		return Replay{}, err
	}
	remembered, err := policies.Reads("session")
	if err != nil {
		return Replay{}, err
	}
	layout := l.Layout()
	r := &replayer{
		remembered: remembered,
		options:    o,
		evaluators: []engine.Evaluator{policies},
		layout:     &layout,
		known:      map[[sha256.Size]byte]*verdict{},
		// The facts that a plugin reads are unknown.
		alike: len(rules) == 0 && !timed && !named && len(l.Exemptions) == 0, // which expire
	}
	for _, rule := range rules {
		r.evaluators = append(r.evaluators, rule)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	todo := make(chan audit.Entry, 256)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for e := range todo {
				if err := r.one(ctx, e); err != nil {
					cancel(fmt.Errorf("replay record %d: %w", e.Seq, err))
				}
			}
		})
	}
	r.feed(ctx, entries, todo)
	close(todo)
	workers.Wait()
	slices.SortFunc(r.result.All, func(a, b Replayed) int { return cmp.Compare(a.Seq, b.Seq) })
	return r.result, context.Cause(ctx)
}

// replayer judges records, several at a time.
type replayer struct {
	options    ReplayOptions
	evaluators []engine.Evaluator
	layout     *facts.Layout
	alike      bool // inputs that differ in id and time alone are judged alike
	remembered bool // some policy reads the session

	mu     sync.Mutex
	result Replay
	known  map[[sha256.Size]byte]*verdict // by input, without id and time
}

// verdict is a judgement that is made once.
type verdict struct {
	once   sync.Once
	effect engine.Effect
	rules  []string
	fault  string
	input  facts.Input
	err    error
}

func (r *replayer) feed(ctx context.Context, entries iter.Seq2[audit.Entry, error], todo chan<- audit.Entry) {
	for e, err := range entries {
		if err != nil {
			r.broken(err)
			continue
		}
		if r.options.Read != nil {
			r.options.Read(len(e.Raw) + 1)
		}
		early := !r.options.Since.IsZero() && e.Time.Before(r.options.Since)
		late := !r.options.Until.IsZero() && !e.Time.Before(r.options.Until)
		if e.Kind != engine.KindDecision || early || late {
			continue
		}
		select {
		case todo <- e:
		case <-ctx.Done():
			return
		}
	}
}

func (r *replayer) note(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// broken counts a line that cannot be read, and tells of it.
func (r *replayer) broken(err error) {
	r.note(func() {
		r.result.Broken++
		if r.options.Complain != nil {
			r.options.Complain(err)
		}
	})
}

// recorded is as much of a decision record as a replay needs.
type recorded struct {
	Result struct {
		Effect  engine.Effect `json:"effect"`
		Mode    engine.Mode   `json:"mode"`
		Reasons []struct {
			Rule string `json:"rule"`
		} `json:"reasons"`
	} `json:"result"`
	Input json.RawMessage `json:"input"`
	Cut   []struct {
		At string `json:"at"`
	} `json:"cut"`
}

func (r *replayer) one(ctx context.Context, e audit.Entry) error {
	var was recorded
	err := json.Unmarshal(e.Raw, &was)
	r.note(func() { r.result.Decisions++ })
	switch {
	case err != nil:
		r.broken(fmt.Errorf("record %d: %w", e.Seq, err))
		return nil
	case len(was.Input) == 0 || string(was.Input) == "null":
		r.note(func() { r.result.NoInput++ })
		return nil
	}
	for _, c := range was.Cut {
		if len(c.At) >= len("/input") && c.At[:len("/input")] == "/input" {
			r.note(func() { r.result.Cut++ })
			return nil
		}
	}
	v := r.verdict(was.Input)
	v.once.Do(func() { r.judge(ctx, v, was.Input) })
	if errors.Is(v.err, errVersion) {
		r.broken(fmt.Errorf("record %d: %w", e.Seq, v.err))
		return nil
	}
	if v.err != nil {
		return v.err
	}
	r.compare(e, was, v)
	return nil
}

// verdict returns the place of a judgement: the same for inputs that are judged alike.
func (r *replayer) verdict(input []byte) *verdict {
	at := varying.Get().FindSubmatchIndex(input)
	if !r.alike || at == nil {
		return &verdict{}
	}
	same := sha256.New()
	same.Write(input[at[2]:at[3]])
	rest := input[at[1]:]
	// The session is the last field. No text can hold the mark: there its quotes would be escaped.
	if i := bytes.LastIndex(rest, []byte(`,"session":{`)); i >= 0 && !r.remembered {
		rest = rest[:i]
	}
	same.Write(rest)
	key := [sha256.Size]byte(same.Sum(nil))
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[key] == nil {
		r.known[key] = &verdict{}
	}
	return r.known[key]
}

// varying matches the beginning of every input: the version, and the fields that differ between otherwise
// equal requests.
var varying = lazyregexp.New(`^(\{"version":[0-9]+,)"request":\{"id":"[^"\\]*","time":"[^"\\]*",`)

var errVersion = errors.New("its input is of another version of sallyport")

func (r *replayer) judge(ctx context.Context, v *verdict, input []byte) {
	decoder := json.NewDecoder(bytes.NewReader(input))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&v.input); err != nil {
		v.err = fmt.Errorf("%w: %w", errVersion, err)
		return
	}
	if v.input.Version != facts.Version {
		v.err = fmt.Errorf("%w: %d, not %d", errVersion, v.input.Version, facts.Version)
		return
	}
	v.input.Rematch(r.layout)
	v.effect = engine.Allow
	for _, e := range r.evaluators {
		judgement, err := e.Evaluate(ctx, &v.input)
		switch {
		case ctx.Err() != nil:
			v.err = context.Cause(ctx)
			return
		case err != nil: // a fault, which denies regardless of the others
			v.effect, v.fault = engine.Deny, err.Error()
		default:
			v.effect = stricter(v.effect, judgement.Effect)
		}
		for _, reason := range judgement.Reasons {
			v.rules = append(v.rules, reason.Rule)
		}
	}
	v.rules = distinct(v.rules)
	v.input = facts.Input{Request: v.input.Request, Subject: v.input.Subject} // the rest has been judged
}

// stricter is the effect of two evaluators together, as the gate has it.
func stricter(a, b engine.Effect) engine.Effect {
	switch {
	case a == engine.Allow && b == engine.Allow:
		return engine.Allow
	case (a == engine.Allow || a == engine.Ask) && (b == engine.Allow || b == engine.Ask):
		return engine.Ask
	}
	return engine.Deny
}

func (r *replayer) compare(e audit.Entry, was recorded, v *verdict) {
	before := make([]string, len(was.Result.Reasons))
	for i, reason := range was.Result.Reasons {
		before[i] = reason.Rule
	}
	before = distinct(before)
	without := func(list, other []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(other, s) })
	}
	found := Replayed{
		Seq: e.Seq, Time: e.Time, Decision: e.DecisionID, Tool: v.input.Request.Tool,
		Command: v.input.Request.Command, Agent: v.input.Subject.Agent,
		Mode: was.Result.Mode, Before: was.Result.Effect, After: v.effect,
		More: without(v.rules, before), Less: without(before, v.rules), Rules: v.rules, Fault: v.fault,
	}
	r.note(func() {
		r.result.Judged++
		if r.options.Keep == nil || r.options.Keep(found) {
			r.result.All = append(r.result.All, found)
		}
	})
}

func distinct(list []string) []string {
	list = append([]string{}, list...)
	slices.Sort(list)
	return slices.Compact(list)
}
