package plugins

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/engine/wasm"
)

// RulePlugins opens the rule plugins that a configuration names. Each is an evaluator beside the
// policies: it can add reasons and take none away.
func RulePlugins(ctx context.Context, l *config.Loaded) ([]*wasm.Plugin, error) {
	return rulePlugins(ctx, l, wasm.Options{})
}

func rulePlugins(ctx context.Context, l *config.Loaded, o wasm.Options) (_ []*wasm.Plugin, err error) {
	var all []*wasm.Plugin
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll(all))
		}
	}()
	var problems []config.Problem
	named := map[string]bool{}
	o.Cache, o.Levels, o.Exemptions, o.Functions = l.CompiledDir(), l.Rules, exempted(pluginsLast(l)),
		rego.Function
	for i, module := range l.Plugins {
		key := fmt.Sprintf("plugins[%d]", i)
		o.Module = string(module)
		p, err := wasm.Open(ctx, o)
		if err != nil {
			problems = append(problems, l.At(key, err.Error()))
			continue
		}
		all = append(all, p)
		if named[p.Name()] {
			problems = append(
				problems, l.At(key, fmt.Sprintf("there are two plugins named %s: their rules could not be told apart",
					p.Name())))
		}
		named[p.Name()] = true
	}
	if len(problems) == 0 {
		problems = strangers(l, named)
	}
	return all, l.Refuse(problems)
}

// strangers are settings for rules of plugins that are not there: they would have no effect.
func strangers(l *config.Loaded, named map[string]bool) []config.Problem {
	var problems []config.Problem
	check := func(key, id string) {
		rest, ours := strings.CutPrefix(id, pluginRules)
		if name, _, _ := strings.Cut(rest, "/"); ours && !named[name] {
			problems = append(problems, l.At(key, fmt.Sprintf("no rule %q: no plugin named %s is loaded", id, name)))
		}
	}
	for id := range l.Rules {
		check("rules."+id, id)
	}
	for i, e := range l.Exemptions {
		check(fmt.Sprintf("exemptions[%d].rule", i), e.Rule)
	}
	slices.SortFunc(problems, func(a, b config.Problem) int { return strings.Compare(a.Key, b.Key) })
	return problems
}

func closeAll(all []*wasm.Plugin) error {
	var err error
	for _, p := range all {
		err = errors.Join(err, p.Close())
	}
	return err
}

func exempted(l *config.Loaded) []string {
	ids := make([]string, len(l.Exemptions))
	for i, e := range l.Exemptions {
		ids[i] = e.Rule
	}
	return ids
}

// pluginsLast returns the configuration with the exemptions of plugins' rules after all others. An
// exemption is known by its index, and policies know only those of their own rules.
func pluginsLast(l *config.Loaded) *config.Loaded {
	var own, others []config.Exemption
	for _, e := range l.Exemptions {
		if ofPlugin(e.Rule) {
			others = append(others, e)
		} else {
			own = append(own, e)
		}
	}
	c := *l
	c.Exemptions = append(own, others...)
	return &c
}
