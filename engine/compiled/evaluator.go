package compiled

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// ErrUnusual is wrapped by errors for a configuration that only package rego can serve, or explain the mistakes of.
var ErrUnusual = errors.New("this is for the evaluator that knows Rego")

// DefaultTimeout bounds one evaluation where nothing else is said.
const DefaultTimeout = 5 * time.Second

// Options configure an Evaluator.
type Options struct {
	Bundle   Bundle
	Sources  fs.FS  // from which the bundle was compiled: its documents are read there
	Revision string // of Sources
	Config   Config
}

// Evaluator judges inputs by the compiled built-in rules alone, as rego.Evaluator does where the operator has no
// policies. It is safe for concurrent use.
type Evaluator struct {
	rules    *Rules
	byID     map[string]Rule
	revision string
}

// New makes the evaluator. If the configuration names a rule or level that does not exist, the error wraps ErrUnusual.
func New(ctx context.Context, o Options) (*Evaluator, error) {
	d, err := o.Bundle.Describe()
	if err == nil {
		err = d.CheckRevision(o.Revision)
	}
	if err != nil {
		return nil, err
	}
	data, err := documents(o.Sources)
	if err != nil {
		return nil, err
	}
	profile, err := overlay(data, o.Config.Filled())
	if err != nil {
		return nil, err
	}
	e := &Evaluator{byID: make(map[string]Rule, len(d.Rules)), revision: o.Revision}
	levels := make(map[string]string, len(d.Rules))
	for _, r := range d.Rules {
		setting := o.Config.Setting(r.ID, profile)
		if !slices.Contains(Levels, setting.Level) {
			return nil, fmt.Errorf("rules: %s: level %q: %w", r.ID, setting.Level, ErrUnusual)
		}
		levels[r.ID] = setting.Level
		e.byID[r.ID] = Rule{ID: r.ID, Title: r.Title, Severity: r.Severity, Remediation: r.Remediation, Defined: r.Defined, Setting: setting}
	}
	for id, level := range o.Config.Levels {
		if _, ok := e.byID[id]; !ok || !slices.Contains(Levels, level) {
			return nil, fmt.Errorf("rules: %s: level %q: %w", id, level, ErrUnusual)
		}
	}
	for _, x := range o.Config.Exemptions {
		if _, ok := e.byID[x.Rule]; !ok {
			return nil, fmt.Errorf("exemptions: no rule %q: %w", x.Rule, ErrUnusual)
		}
	}
	if e.rules, err = o.Bundle.Start(ctx, d, levels, data); err != nil {
		return nil, err
	}
	return e, nil
}

// documents reads the data files of the bundle. Each lies in a directory of its own below the root of the data.
func documents(sources fs.FS) (map[string]any, error) {
	names, err := fs.Glob(sources, "sallyport/*/data.json")
	if err != nil {
		return nil, err
	}
	sallyport := map[string]any{}
	for _, name := range names {
		text, err := fs.ReadFile(sources, name)
		if err != nil {
			return nil, err
		}
		var value map[string]any
		if err := json.Unmarshal(text, &value); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		sallyport[path.Base(path.Dir(name))] = value
	}
	return map[string]any{"sallyport": sallyport}, nil
}

// overlay puts the configuration into the documents and returns the profile that it names.
func overlay(data map[string]any, c Config) (map[string]any, error) {
	sallyport, _ := data["sallyport"].(map[string]any)
	sallyport["config"] = c
	profiles, _ := sallyport["profiles"].(map[string]any)
	profile, ok := profiles[c.Profile].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("profile %q: %w", c.Profile, ErrUnusual)
	}
	return profile, nil
}

// Policy names the evaluator's policies.
func (e *Evaluator) Policy() engine.PolicyInfo {
	return engine.PolicyInfo{Revision: e.revision, Bundles: map[string]string{}}
}

// Close frees the machine. Nothing may be under way.
func (e *Evaluator) Close() error { return e.rules.Machine.Close() }

// Evaluate judges in. It neither keeps nor changes it. A sound decision is a Judgement; all else is an error.
func (e *Evaluator) Evaluate(ctx context.Context, in *facts.Input) (engine.Judgement, error) {
	if err := Known(in); err != nil {
		return engine.Judgement{}, err
	}
	begin := time.Now()
	d, err := e.rules.Decide(ctx, in)
	if err != nil {
		return engine.Judgement{}, err
	}
	spent := []engine.Spent{{By: "wasm", Time: time.Since(begin)}}
	j, err := Join(in, d, e.rule)
	if err != nil {
		return engine.Judgement{}, err
	}
	begin = time.Now()
	if j.Exempted, err = Exempted(ctx, in, e.rules.Explain, e.rule); err != nil {
		return engine.Judgement{}, err
	}
	if len(j.Exempted) > 0 {
		spent = append(spent, engine.Spent{By: "exemptions", Time: time.Since(begin)})
	}
	j.Spent = spent
	return j, nil
}

func (e *Evaluator) rule(id string) (Rule, error) {
	r, ok := e.byID[id]
	if !ok {
		return Rule{}, ErrNotLoaded
	}
	return r, nil
}

// Known refuses an input that rules cannot read.
func Known(in *facts.Input) error {
	if in == nil {
		return errors.New("evaluate policies: there is no input")
	}
	if in.Version != facts.Version {
		return fmt.Errorf("evaluate policies: the input has version %d, the policies read version %d", in.Version, facts.Version)
	}
	return nil
}

// Exempted lists the findings that exemptions take away. A decision lacks them; the explanation, which takes longer,
// has them and is evaluated only if an exemption matches a command.
func Exempted(
	ctx context.Context, in *facts.Input,
	explain func(context.Context, *facts.Input) (map[string]Explained, error), rule func(id string) (Rule, error),
) ([]engine.Reason, error) {
	if !slices.ContainsFunc(in.Commands, func(c facts.Command) bool { return len(c.Matches.Exempt) > 0 }) {
		return nil, nil
	}
	found, err := explain(ctx, in)
	if err != nil {
		return nil, err
	}
	var all []engine.Reason
	for id, of := range found {
		for _, r := range of.Exempted {
			r.Rule = id
			joined, err := JoinReason(in, r, rule)
			if err != nil {
				return nil, fmt.Errorf("read what is exempt: rule %s: %w", id, err)
			}
			all = append(all, joined)
		}
	}
	SortReasons(all)
	return all, nil
}
