package plugins

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/engine/wasm"
)

// Rules describes all rules that judge under a configuration: those of policies, then those of rule plugins.
func Rules(ctx context.Context, l *config.Loaded) (_ *rego.Evaluator, _ []rego.RuleInfo, err error) {
	policies, err := Policies(ctx, l)
	if err != nil {
		return nil, nil, err
	}
	infos, err := policies.Rules(ctx)
	if err != nil {
		return nil, nil, err
	}
	all, err := RulePlugins(ctx, l)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range all {
		for _, r := range p.Rules() {
			infos = append(infos, describe(p, r))
		}
	}
	return policies, infos, closeAll(all)
}

// Rules describes the rules that judge now.
func (s *Sallyport) Rules(ctx context.Context) ([]rego.RuleInfo, error) {
	infos, err := s.InForce().Rules(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range s.plugins {
		for _, r := range p.Rules() {
			infos = append(infos, describe(p, r))
		}
	}
	return infos, nil
}

func describe(p *wasm.Plugin, r wasm.RuleInfo) rego.RuleInfo {
	return rego.RuleInfo{
		ID: r.ID, Title: cmp.Or(r.About.Title, "a rule of the plugin "+p.Name()), Severity: r.About.Severity,
		Remediation: r.About.Remediation,
		Level:       r.Level, LevelFrom: levelFrom(r), Profile: "standard", File: r.File, Origin: rego.Plugin,
	}
}

func levelFrom(r wasm.RuleInfo) string {
	if r.Set {
		return "config"
	}
	return "rule"
}

// Explain lists for each rule its findings in an input and their effect: those of policies, then those of
// rule plugins. It takes the same way as a decision.
func (s *Sallyport) Explain(ctx context.Context, in *facts.Input) ([]rego.RuleTrace, error) {
	_, traces, err := s.InForce().Explain(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("explain decision: %w", err)
	}
	for _, p := range s.plugins {
		_, found, err := p.Explain(ctx, in)
		if err != nil {
			// It is a fault of the decision, which tells it. The other rules are explained all the same.
			for _, r := range p.Rules() {
				traces = append(traces, rego.RuleTrace{Rule: r.ID, Outcome: rego.Failed, Level: r.Level,
					LevelFrom: levelFrom(r)})
			}
			if ctx.Err() != nil {
				return nil, errors.Join(err, ctx.Err())
			}
			continue
		}
		for _, f := range found {
			t := rego.RuleTrace{Rule: f.ID, Outcome: rego.Silent, Level: f.Level, LevelFrom: levelFrom(f.RuleInfo),
				Found: f.Reasons, Exempted: f.Exempt}
			switch {
			case f.Level == "off":
				t.Outcome = rego.Off
			case len(f.Reasons) > 0 && f.Exempt == len(f.Reasons):
				t.Outcome = rego.Exempted
			case len(f.Reasons) > 0:
				t.Outcome = rego.Fired
			}
			traces = append(traces, t)
		}
	}
	return traces, nil
}

// Considered is an exemption of a rule that found something, and its outcome.
type Considered struct {
	Rule    string    `json:"rule"`
	Match   string    `json:"match"`
	Reason  string    `json:"reason"`
	Expires time.Time `json:"expires"`
	Outcome string    `json:"outcome"` // applied, expired, or "no match"
}

// Exemptions tells which exemptions had to do with a decision: those of rules that found something.
func (s *Sallyport) Exemptions(out engine.Outcome, traces []rego.RuleTrace) []Considered {
	considered := []Considered{}
	for _, e := range s.exempt {
		if !slices.ContainsFunc(
			traces, func(t rego.RuleTrace) bool { return t.Rule == e.Rule && len(t.Found) > 0 }) {
			continue
		}
		c := Considered{Rule: e.Rule, Match: e.Text, Reason: e.Reason, Expires: e.Expires, Outcome: "no match"}
		switch {
		case slices.ContainsFunc(
			out.Exempted,
			func(w engine.Exempted) bool { return w.Rule == e.Rule && w.Match == e.Text && w.Reason == e.Reason }):
			c.Outcome = "applied"
		case !out.Input.Request.Time.Before(e.Expires):
			c.Outcome = "expired"
		}
		considered = append(considered, c)
	}
	return considered
}
