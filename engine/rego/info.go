package rego

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/compiled"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Origin says where a rule comes from.
type Origin string

const (
	Builtin Origin = "builtin"
	Custom  Origin = "custom"
	Plugin  Origin = "plugin" // of a rule plugin: package plugins tells about those
)

// RuleInfo describes a loaded rule.
type RuleInfo struct {
	ID          string          `json:"id"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Severity    string          `json:"severity"`
	Remediation string          `json:"remediation"`
	Effects     []engine.Effect `json:"effects"` // those its own sets have: deny, ask, warn
	Level       string          `json:"level"`   // off, warn, ask, deny or own
	LevelFrom   string          `json:"level_from"`
	Profile     string          `json:"profile"` // under which the examples are meant
	Examples    []string        `json:"examples"`
	Lookalikes  []string        `json:"lookalikes"`
	Config      map[string]any  `json:"config,omitempty"` // the configuration of the examples: commands, paths, rules; files of the scratch set-up
	File        string          `json:"file"`
	Row         int             `json:"row"`
	Origin      Origin          `json:"origin"`
}

// Rules describes all rules that were loaded, sorted by id. Levels are those that decisions use.
// It reads their metadata, about 10 ms of YAML, and ends when ctx does.
func (e *Evaluator) Rules(ctx context.Context) ([]RuleInfo, error) {
	all, err := e.all()
	if err != nil {
		return nil, err
	}
	infos := make([]RuleInfo, len(all.policies.rules))
	for i, r := range all.policies.rules {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("describe rules: %w", err)
		}
		if infos[i], err = r.info(); err != nil {
			return nil, err
		}
	}
	return infos, nil
}

func (r *rule) info() (RuleInfo, error) {
	about, err := r.metadata()
	if err != nil {
		return RuleInfo{}, err
	}
	info := RuleInfo{
		ID: r.id, Title: about.title, Description: about.description, Severity: about.severity,
		Remediation: about.remediation,
		Level:       r.setting.Level, LevelFrom: r.setting.From,
		Profile: cmp.Or(about.profile, "standard"), Examples: about.examples, Lookalikes: about.lookalikes,
		Config: about.config, Origin: Builtin,
	}
	for _, verb := range r.verbs() {
		info.Effects = append(info.Effects, engine.Effect(verb))
	}
	at := compiled.Rule{Defined: r.defined}.Location(info.Effects[0])
	info.File, info.Row = at.File, at.Row
	if r.custom() {
		info.Origin = Custom
	}
	return info, nil
}

// rule is the part of a rule that a judgement needs.
func (e *Evaluator) rule(id string) (compiled.Rule, error) {
	r := e.policies.byID[id]
	if r == nil {
		return compiled.Rule{}, compiled.ErrNotLoaded
	}
	about, err := r.metadata()
	if err != nil {
		return compiled.Rule{}, err
	}
	return compiled.Rule{
		ID: id, Title: about.title, Severity: about.severity, Remediation: about.remediation,
		Trial:   about.trial,
		Defined: r.defined, Setting: r.setting,
	}, nil
}

// RuleOutcome is the result of one rule in one evaluation.
type RuleOutcome string

const (
	Fired    RuleOutcome = "fired"    // it gave reasons
	Silent   RuleOutcome = "silent"   // it found nothing
	Off      RuleOutcome = "off"      // its level is off: it was not evaluated
	Exempted RuleOutcome = "exempted" // all that it found is exempt
	Failed   RuleOutcome = "failed"   // its plugin broke, which is a fault and denies
)

// RuleTrace explains one rule's part in a judgement.
type RuleTrace struct {
	Rule      string          `json:"rule"`
	Outcome   RuleOutcome     `json:"outcome"`
	Level     string          `json:"level"`
	LevelFrom string          `json:"level_from"`
	Found     []engine.Reason `json:"found"`    // with the effects of the rule itself, before levels and exemptions
	Exempted  int             `json:"exempted"` // how many findings an exemption took away
}

// Explain judges in as Evaluate does, and lists for each rule, sorted by id, its findings and their effect.
// It reads the very sets that the decision is made from.
func (e *Evaluator) Explain(ctx context.Context, in *facts.Input) (engine.Judgement, []RuleTrace, error) {
	judgement, err := e.Evaluate(ctx, in)
	if err != nil {
		return engine.Judgement{}, nil, err
	}
	found, err := e.found(ctx, in)
	if err != nil {
		return engine.Judgement{}, nil, err
	}
	traces := make([]RuleTrace, len(e.policies.rules))
	for i, r := range e.policies.rules {
		if traces[i], err = e.trace(in, r, found); err != nil {
			return engine.Judgement{}, nil, fmt.Errorf("read explanation: rule %s: %w", r.id, err)
		}
	}
	return judgement, traces, nil
}

// explained are the findings of one rule, before levels and exemptions, and the exempt ones among them.
type explained = compiled.Explained

// found are the findings of each rule.
func (e *Evaluator) found(ctx context.Context, in *facts.Input) (found map[string]explained, err error) {
	if e.machine != nil {
		if found, err = e.machine.Explain(ctx, in); err != nil {
			return nil, err
		}
	}
	if e.own == nil {
		return found, nil
	}
	topdown, err := e.own()
	if err != nil {
		return nil, err
	}
	more, err := topdown.explain(ctx, in)
	if err != nil || found == nil {
		return more, err
	}
	maps.Copy(found, more)
	return found, nil
}

func (e *Evaluator) trace(in *facts.Input, r *rule, all map[string]explained) (RuleTrace, error) {
	trace := RuleTrace{Rule: r.id, Outcome: Silent, Level: r.setting.Level, LevelFrom: r.setting.From}
	if r.off() {
		trace.Outcome = Off
		return trace, nil
	}
	of, ok := all[r.id]
	if !ok {
		return RuleTrace{}, errors.New("it is missing")
	}
	trace.Exempted = len(of.Exempted)
	for _, verb := range verbs {
		reasons := make([]engine.Reason, len(of.Found[verb]))
		for i, f := range of.Found[verb] {
			var err error
			if reasons[i], err = compiled.JoinReason(in, reason{Rule: r.id, Effect: verb, Finding: f},
				e.rule); err != nil {
				return RuleTrace{}, err
			}
		}
		compiled.SortReasons(reasons)
		trace.Found = append(trace.Found, reasons...)
	}
	switch {
	case len(trace.Found) == 0:
	case trace.Exempted == len(trace.Found):
		trace.Outcome = Exempted
	default:
		trace.Outcome = Fired
	}
	return trace, nil
}

// explain evaluates the explanation.
func (e *interpreter) explain(ctx context.Context, in *facts.Input) (map[string]explained, error) {
	term, err := e.eval(ctx, &e.explanation, e.encode.value(in))
	if err != nil {
		return nil, err
	}
	object, ok := term.Value.(ast.Object)
	if !ok {
		return nil, errors.New("read explanation: not an object")
	}
	all := make(map[string]explained, object.Len())
	err = object.Iter(func(id, t *ast.Term) error {
		name, ok := id.Value.(ast.String)
		if !ok {
			return fmt.Errorf("%v is no rule", id)
		}
		one, err := decodeExplained(t)
		if err != nil {
			return fmt.Errorf("rule %s: %w", name, err)
		}
		all[string(name)] = one
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read explanation: %w", err)
	}
	return all, nil
}

func decodeExplained(t *ast.Term) (explained, error) {
	var found, exempted *ast.Term
	if err := fields(t, map[string]**ast.Term{"found": &found, "exempted": &exempted}, nil); err != nil {
		return explained{}, err
	}
	sets := map[string]**ast.Term{}
	terms := make([]*ast.Term, len(verbs))
	for i, verb := range verbs {
		sets[string(verb)] = &terms[i]
	}
	if err := fields(found, nil, sets); err != nil {
		return explained{}, err
	}
	one := explained{Found: map[engine.Effect][]finding{}}
	taken, ok := exempted.Value.(ast.Set)
	if !ok {
		return explained{}, errors.New("exempted is not a set")
	}
	for _, t := range taken.Slice() {
		r, err := decodeExempted(t)
		if err != nil {
			return explained{}, fmt.Errorf("exempted: %w", err)
		}
		one.Exempted = append(one.Exempted, r)
	}
	for i, verb := range verbs {
		if terms[i] == nil {
			continue
		}
		set, ok := terms[i].Value.(ast.Set)
		if !ok {
			return explained{}, fmt.Errorf("%s is not a set", verb)
		}
		for _, term := range set.Slice() {
			f, err := decodeFinding(term)
			if err != nil {
				return explained{}, err
			}
			one.Found[verb] = append(one.Found[verb], f)
		}
	}
	return one, nil
}

func decodeExempted(t *ast.Term) (r reason, err error) {
	pair, ok := t.Value.(*ast.Array)
	if !ok || pair.Len() != 2 {
		return reason{}, fmt.Errorf("%v is not an effect and a finding", t)
	}
	if r.Effect, err = decodeEffect(pair.Elem(0), verbs...); err == nil {
		r.Finding, err = decodeFinding(pair.Elem(1))
	}
	return r, err
}

// SourceFile is a file of a rule.
type SourceFile struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Source returns the text of a rule that was loaded, by file.
func (e *Evaluator) Source(id string) ([]SourceFile, error) {
	all, err := e.all()
	if err != nil {
		return nil, err
	}
	r := all.policies.byID[id]
	if r == nil {
		return nil, fmt.Errorf("show rule %s: it is not loaded", id)
	}
	files := make([]SourceFile, len(r.sources))
	for i, src := range r.sources {
		files[i] = SourceFile{src.name, src.text}
	}
	return files, nil
}

// TestOf is a unit test that looks at a rule.
type TestOf struct {
	Name string `json:"name"`
	File string `json:"file"`
	Row  int    `json:"row"`
}

// TestsOf finds the unit tests in directories that refer to a rule, in the order of files.
func TestsOf(dirs []string, id string) ([]TestOf, error) {
	set := &fileSet{}
	set.readCustom(dirs, isRego)
	set.parse()
	if err := set.err(); err != nil {
		return nil, err
	}
	var tests []TestOf
	for _, src := range set.sources {
		if !src.test() || !refersTo(src.module, id) {
			continue
		}
		for _, r := range src.module.Rules {
			if name := ruleName(r); len(name) > len("test_") && name[:len("test_")] == "test_" {
				tests = append(tests, TestOf{"data." + packageName(src.module.Package.Path) + "." + name,
					src.name, r.Location.Row})
			}
		}
	}
	slices.SortFunc(tests, func(a, b TestOf) int {
		return cmp.Or(cmp.Compare(a.File, b.File),
			cmp.Compare(a.Row, b.Row))
	})
	return slices.CompactFunc(tests, func(a, b TestOf) bool {
		return a.Name == b.Name &&
			a.File == b.File
	}), nil
}

// refersTo reports whether a module imports or reads the package of a rule, or adds to it.
func refersTo(module *ast.Module, id string) bool {
	if ruleID(module.Package.Path) == id {
		return true
	}
	found := false
	ast.WalkRefs(module, func(ref ast.Ref) bool {
		for n := 2; n <= len(ref) && !found; n++ {
			found = ruleID(ref[:n]) == id
		}
		return found
	})
	return found
}
