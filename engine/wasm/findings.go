package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// maxFindings bounds the findings of one call.
const maxFindings = 1000

var severities = []string{"low", "medium", "high", "critical"}

// judgement reads the result of a plugin and checks all of it: see decodeObject. Every finding must be of a
// rule that the manifest names and point into the input.
func (p *Plugin) judgement(in *facts.Input, outputs [][]byte) (engine.Judgement, error) {
	return p.judged(in, outputs, func(engine.Reason, bool) {})
}

// judged is judgement, which shows each finding before the operator's level, and whether it is exempt.
func (p *Plugin) judged(in *facts.Input, outputs [][]byte,
	show func(found engine.Reason, exempt bool)) (engine.Judgement, error) {
	found, err := p.findings(outputs)
	if err != nil {
		return engine.Judgement{}, err
	}
	if len(found) > maxFindings {
		return engine.Judgement{}, fmt.Errorf("%d findings: at most %d are taken", len(found), maxFindings)
	}
	j := engine.Judgement{Effect: engine.Allow, Reasons: make([]engine.Reason, 0, len(found))}
	for i, r := range found {
		if err := p.complete(in, &r); err != nil {
			return engine.Judgement{}, fmt.Errorf("findings[%d]: %w", i, err)
		}
		exempt := p.exempt(in, r)
		show(r, exempt)
		if exempt {
			j.Exempted = append(j.Exempted, r)
			continue
		}
		if !p.level(&r) {
			continue
		}
		j.Reasons = append(j.Reasons, r)
		switch {
		case r.Effect == engine.Deny:
			j.Effect = engine.Deny
		case r.Effect == engine.Ask && j.Effect == engine.Allow:
			j.Effect = engine.Ask
		}
	}
	return j, nil
}

func (p *Plugin) findings(outputs [][]byte) ([]engine.Reason, error) {
	if p.policy != nil {
		return p.policyFindings(outputs)
	}
	var list []json.RawMessage
	if err := decodeObject(outputs[0], map[string]any{"findings": &list}); err != nil {
		return nil, err
	}
	if list == nil {
		return nil, errors.New("findings is missing: an empty list says that there are none")
	}
	found := make([]engine.Reason, len(list))
	for i, text := range list {
		r, effect := &found[i], ""
		r.Command, r.Path = -1, -1
		if err := decodeObject(text, map[string]any{
			"rule": &r.Rule, "effect": &effect, "severity": &r.Severity, "title": &r.Title, "message": &r.Message,
			"remediation": &r.Remediation, "command": &r.Command, "path": &r.Path,
		}); err != nil {
			return nil, fmt.Errorf("findings[%d]: %w", i, err)
		}
		r.Effect = engine.Effect(effect)
	}
	return found, nil
}

// policyFindings reads the results of a compiled policy, one for each entrypoint: the findings are as those
// of rules in Rego, and the manifest describes them.
func (p *Plugin) policyFindings(outputs [][]byte) ([]engine.Reason, error) {
	var found []engine.Reason
	for n, e := range p.policy.entries {
		name := e.rule + "/" + e.effect
		var results, list []json.RawMessage
		if err := json.Unmarshal(outputs[n], &results); err != nil {
			return nil, fmt.Errorf("%s: it is not JSON: %w", name, err)
		}
		if len(results) != 1 {
			return nil, fmt.Errorf("%s is undefined", name)
		}
		if err := decodeObject(results[0], map[string]any{"result": &list}); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if list == nil {
			return nil, fmt.Errorf("%s: it is not a set", name)
		}
		about := p.manifest.Policy[e.rule]
		for _, text := range list {
			r := engine.Reason{
				Rule: p.manifest.Rule(e.rule), Effect: engine.Effect(e.effect), Severity: about.Severity,
				Title:       about.Title,
				Remediation: about.Remediation, Command: -1, Path: -1,
			}
			if err := decodeObject(text, map[string]any{"command": &r.Command, "path": &r.Path,
				"msg": &r.Message}); err != nil {
				return nil, fmt.Errorf("%s: a finding: %w", name, err)
			}
			found = append(found, r)
		}
	}
	return found, nil
}

// complete checks a finding and adds the derived fields.
func (p *Plugin) complete(in *facts.Input, r *engine.Reason) error {
	r.Location = engine.Location{File: filepath.Base(p.file)} // where it lies is nothing for the agent
	switch {
	case !p.rules[r.Rule]:
		return fmt.Errorf("rule %q is not one that its manifest names", r.Rule)
	case r.Effect != engine.Deny && r.Effect != engine.Ask && r.Effect != engine.Warn:
		return fmt.Errorf("unknown effect %q: deny, ask or warn", r.Effect)
	case !slices.Contains(severities, r.Severity):
		return fmt.Errorf("unknown severity %q: low, medium, high or critical", r.Severity)
	case r.Title == "":
		return errors.New("title is missing")
	case r.Command < -1 || r.Command >= len(in.Commands):
		return fmt.Errorf("it points at command %d of %d", r.Command, len(in.Commands))
	case r.Path < -1 || r.Path >= len(in.Paths):
		return fmt.Errorf("it points at path %d of %d", r.Path, len(in.Paths))
	}
	if r.Message == "" {
		r.Message = r.Title
	}
	if r.Command < 0 && r.Path >= 0 {
		r.Command = in.Paths[r.Path].Command
	}
	if r.Command >= 0 {
		if r.Command >= len(in.Commands) {
			return fmt.Errorf("its path belongs to command %d of %d", r.Command, len(in.Commands))
		}
		span := in.Commands[r.Command].Span
		r.Span = &span
	}
	return nil
}

// exempt reports whether the operator has exempted the command of a finding.
func (p *Plugin) exempt(in *facts.Input, r engine.Reason) bool {
	if r.Command < 0 {
		return false
	}
	return slices.ContainsFunc(in.Commands[r.Command].Matches.Exempt, func(i int) bool {
		return i < len(p.exemptions) && p.exemptions[i] == r.Rule
	})
}

// level puts the operator's level on a finding; it reports whether something is left.
func (p *Plugin) level(r *engine.Reason) bool {
	switch level := p.levels[r.Rule]; level {
	case "off":
		return false
	case "warn", "ask", "deny":
		r.Effect, r.Level = engine.Effect(level), level
	}
	return true
}

// RuleInfo describes a rule without a call of its plugin. The findings of a rule plugin describe themselves;
// only for a compiled policy the manifest does.
type RuleInfo struct {
	ID    string
	File  string // the module
	Level string // off, warn, ask, deny, or own: the rule decides by itself
	Set   bool   // by the operator
	About About
}

// Rules describes the plugin's rules, sorted by id.
func (p *Plugin) Rules() []RuleInfo {
	var all []RuleInfo
	for _, name := range slices.Sorted(slices.Values(p.manifest.Rules)) {
		id := p.manifest.Rule(name)
		level, set := p.levels[id]
		if !set {
			level = "own"
		}
		all = append(all, RuleInfo{ID: id, File: p.file, Level: level, Set: set,
			About: p.manifest.Policy[name]})
	}
	return all
}

// Found are the findings of one rule in one evaluation.
type Found struct {
	RuleInfo
	Reasons []engine.Reason // before levels and exemptions
	Exempt  int             // how many of them an exemption takes away
}

// Explain judges in as Evaluate does, and lists the findings of each rule, sorted by id.
func (p *Plugin) Explain(ctx context.Context, in *facts.Input) (engine.Judgement, []Found, error) {
	found := map[string]*Found{}
	for _, r := range p.Rules() {
		found[r.ID] = &Found{RuleInfo: r}
	}
	j, err := p.explain(ctx, in, func(r engine.Reason, exempt bool) {
		f := found[r.Rule]
		f.Reasons = append(f.Reasons, r)
		if exempt {
			f.Exempt++
		}
	})
	if err != nil {
		return engine.Judgement{}, nil, err
	}
	all := make([]Found, 0, len(found))
	for _, id := range slices.Sorted(maps.Keys(found)) {
		all = append(all, *found[id])
	}
	return j, all, nil
}
