package plugins

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/rego"
)

// CaseResult is the result of a case. Wrong is empty if it holds.
type CaseResult struct {
	Name   string        `json:"name"`
	File   string        `json:"file"`
	Row    int           `json:"row"`
	Effect engine.Effect `json:"effect"`
	Rules  []string      `json:"rules"` // that gave reasons, sorted
	Both   bool          `json:"both"`  // it was judged by both evaluators
	Wrong  string        `json:"wrong"`
}

// Cases judges each case through the whole engine, in a home and workspace of its own, under the
// operator's policies and the settings of the case, and nothing else that is configured. Nothing runs.
func Cases(ctx context.Context, l *config.Loaded, cases []rego.Case) (_ []CaseResult, err error) {
	l = byBoth(l)
	scratch, err := os.MkdirTemp("", "sallyport-cases-")
	if err != nil {
		return nil, fmt.Errorf("make workspace for cases: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	judge := &evaluators{dirs: l.Policies, made: map[string]*rego.Evaluator{}}
	out := make([]CaseResult, len(cases))
	place := filepath.Join(scratch, "place") // the same for all: so all have one evaluator
	for i, c := range cases {
		if out[i], err = tryCase(ctx, l, c, place, judge); err != nil {
			return nil, fmt.Errorf("%s:%d: try case %q: %w", c.File, c.Row, c.Name, err)
		}
		if err := os.RemoveAll(place); err != nil {
			return nil, fmt.Errorf("clear workspace for cases: %w", err)
		}
	}
	return out, nil
}

func tryCase(ctx context.Context, l *config.Loaded, c rego.Case, dir string, judge *evaluators) (_ CaseResult,
	err error) {
	profile, settings := "standard", maps.Clone(c.Config)
	if p, ok := settings["profile"].(string); ok {
		profile = p
	}
	delete(settings, "profile")
	o := Options{CheckOnly: true, Session: c.Session, policies: judge.of}
	now := c.Time
	if now.IsZero() {
		now = time.Now()
	}
	o.now = func() time.Time { return now }
	o.history = seenIn(dir, c.Seen)
	o.runner = func(r engine.Runner) engine.Runner { return posing{r, c.Runner.Facts()} }
	files, err := withIndex(c.Files, c.Committed)
	if err != nil {
		return CaseResult{}, err
	}
	w, err := newWorld(ctx, l, dir, setting{profile, settings, files}, o)
	if err != nil {
		return CaseResult{}, err
	}
	defer func() { err = errors.Join(err, w.gate.Close()) }()
	subject := w.gate.Subject
	subject.Agent, subject.User = cmp.Or(c.Agent, subject.Agent), cmp.Or(c.User, subject.User)
	subject.Client.Name = cmp.Or(c.Client, subject.Client.Name)
	for _, e := range c.History {
		earlier := asked(w.place.Replace(e.Text()))
		earlier.WorkDir, earlier.Subject = w.place.Replace(c.WorkDir), subject
		past := engine.Earlier{
			Request: earlier, Ago: e.Ago, Effect: e.Effect, State: e.State, Approval: e.Approval, Exit: e.Exit,
		}
		if err := w.gate.Recall(ctx, past); err != nil {
			return CaseResult{}, err
		}
	}
	request := asked(w.place.Replace(c.Text()))
	request.WorkDir, request.Background, request.Subject = w.place.Replace(c.WorkDir), c.Background, subject
	got, err := w.gate.Check(ctx, request)
	if err != nil {
		return CaseResult{}, err
	}
	r := held(c, got)
	if both, err := agree(ctx, w.gate, got.Input); err != nil {
		r.Both, r.Wrong = both, strings.TrimPrefix(r.Wrong+"; "+err.Error(), "; ")
	} else {
		r.Both = both
	}
	return r, nil
}

// byBoth makes sure that the compiled form of the rules is there to be compared, where this machine has it.
func byBoth(l *config.Loaded) *config.Loaded {
	if l.Evaluator != "topdown" {
		return l
	}
	c := *l
	c.Evaluator = "auto"
	return &c
}

// agree compares the results of the two evaluators for an input.
func agree(ctx context.Context, s *Sallyport, in *facts.Input) (both bool, err error) {
	if in == nil {
		return false, nil
	}
	return s.Policies.Agree(ctx, in)
}

// held compares a decision with the expectation of its case.
func held(c rego.Case, got engine.Outcome) CaseResult {
	r := CaseResult{Name: c.Name, File: c.File, Row: c.Row, Effect: got.Decision.Effect, Rules: []string{}}
	for _, reason := range got.Decision.Reasons {
		r.Rules = append(r.Rules, reason.Rule)
	}
	slices.Sort(r.Rules)
	r.Rules = slices.Compact(r.Rules)
	var wrong []string
	if got.Fault != nil {
		wrong = append(wrong, got.Fault.Error())
	}
	if r.Effect != c.Effect {
		wrong = append(wrong, fmt.Sprintf("the effect is %s, not %s", r.Effect, c.Effect))
	}
	for _, id := range c.Rules {
		if !slices.Contains(r.Rules, id) {
			wrong = append(wrong, id+" found nothing")
		}
	}
	if len(wrong) > 0 && len(r.Rules) > 0 {
		wrong = append(wrong, "reasons are of "+strings.Join(r.Rules, ", "))
	}
	r.Wrong = strings.Join(wrong, "; ")
	return r
}

// remembered are the earlier actions of a case's session: real paths, and read or created.
type remembered map[string]string

// seenIn places a case's session facts in the world that is made in dir.
func seenIn(dir string, seen map[string]string) remembered {
	if real, err := filepath.EvalSymlinks(filepath.Dir(dir)); err == nil {
		dir = filepath.Join(real, filepath.Base(dir))
	}
	home := filepath.Join(dir, "home", "user")
	workspace := filepath.Join(home, "project")
	names := strings.NewReplacer("{home}", home, "{workspace}", workspace)
	r := remembered{}
	for name, what := range seen {
		if name = filepath.FromSlash(names.Replace(name)); !filepath.IsAbs(name) {
			name = filepath.Join(workspace, name)
		}
		r[filepath.Clean(name)] = what
	}
	return r
}

// Seen returns the session's use of a file.
func (r remembered) Seen(path string) string { return cmp.Or(r[path], "none") }

// Downloaded reports that nothing came from the network.
func (remembered) Downloaded(string) bool { return false }

// Labels reports that nothing was copied.
func (remembered) Labels(string, bool) []string { return nil }

// Begin remembers nothing: a case is judged and not done.
func (remembered) Begin(*facts.Input, facts.FS) func(facts.FS, int) error {
	return func(facts.FS, int) error { return nil }
}

// posing is a runner that tells policies to be another. It is for gates that only decide.
type posing struct {
	engine.Runner
	as facts.Runner
}

func (p posing) Describe() facts.Runner { return p.as }

// evaluators keeps one evaluator for each setting: making one takes longer than many decisions.
type evaluators struct {
	dirs []string // of policies, as they were named
	made map[string]*rego.Evaluator
}

func (e *evaluators) of(ctx context.Context, l *config.Loaded) (*rego.Evaluator, error) {
	key, err := json.Marshal(regoConfig(l))
	if err != nil {
		return nil, err
	}
	if e.made[string(key)] == nil {
		named := *l
		named.Policies = e.dirs
		made, err := Policies(ctx, &named)
		if err != nil {
			return nil, err
		}
		e.made[string(key)] = made
	}
	return e.made[string(key)], nil
}
