package wasm

import (
	"context"
	"maps"
	"slices"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

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
		all = append(all, RuleInfo{ID: id, File: p.file, Level: level, Set: set, About: p.manifest.Policy[name]})
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
