package plugins

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/policies"
)

// judges loads the policies, and returns with them how they are loaded anew.
func (s *Sallyport) judges(ctx context.Context, l *config.Loaded, o Options) (*rego.Evaluator,
	func(context.Context) (*rego.Evaluator, error), error) {
	load := func(ctx context.Context) (*rego.Evaluator, error) { return Policies(ctx, l) }
	reports := slices.ContainsFunc(l.Servers(), func(s config.Served) bool { return s.Status || s.DecisionLogs })
	switch {
	case o.policies != nil:
		load = func(ctx context.Context) (*rego.Evaluator, error) { return o.policies(ctx, l) }
	case !o.CheckOnly && len(l.Servers()) > 0 && (o.Follow || reports):
		if err := honoured(l); err != nil {
			return nil, nil, err
		}
		var err error
		if s.served, err = follow(ctx, l, o.Warn); err != nil {
			return nil, nil, err
		}
		return s.served.initial(), s.served.load, nil
	case len(l.Servers()) > 0:
		load = func(ctx context.Context) (*rego.Evaluator, error) {
			if err := honoured(l); err != nil {
				return nil, err
			}
			e, _, err := fetched(ctx, l, false, o.Warn)
			return e, err
		}
	}
	e, err := load(ctx)
	return e, load, err
}

// Check reports the errors of a configuration, policies and plugins included. It leaves nothing open.
func Check(ctx context.Context, l *config.Loaded) error {
	if _, err := Policies(ctx, l); err != nil {
		return err
	}
	all, err := RulePlugins(ctx, l)
	return errors.Join(err, closeAll(all))
}

// Policies loads and compiles the policies that a configuration names. It asks servers if their cached
// bundles are not fresh.
func Policies(ctx context.Context, l *config.Loaded) (*rego.Evaluator, error) {
	if err := honoured(l); err != nil {
		return nil, err
	}
	if len(l.Servers()) > 0 {
		e, _, err := fetched(ctx, l, false, nil)
		return e, err
	}
	return loadPolicies(ctx, l, nil)
}

// loadPolicies loads the policies of a configuration. texts are the bundles of its addresses.
func loadPolicies(ctx context.Context, l *config.Loaded, texts map[string][]byte) (*rego.Evaluator, error) {
	o, err := regoOptions(l, texts)
	if err != nil {
		return nil, err
	}
	return evaluator(ctx, l, o)
}

func regoOptions(l *config.Loaded, texts map[string][]byte) (rego.Options, error) {
	keys, err := policyKeys(l)
	if err != nil {
		return rego.Options{}, err
	}
	return rego.Options{
		Bundle:   policies.FS(),
		Tested:   true,
		Revision: policies.Revision(),
		Custom:   l.Policies,
		Texts:    texts,
		Keys:     keys,
		Serials:  serials(l),
		Config:   regoConfig(l),
		Checked:  l.CompiledDir(),
	}, nil
}

// policyKeys reads the keys that sign bundles.
func policyKeys(l *config.Loaded) ([][]byte, error) {
	keys := make([][]byte, len(l.PolicyKeys))
	for i, file := range l.PolicyKeys {
		key, err := os.ReadFile(string(file))
		if err == nil {
			err = rego.CheckKey(key)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: read key: %w", file, err)
		}
		keys[i] = key
	}
	return keys, nil
}

// regoConfig is the part of a configuration that policies see.
func regoConfig(l *config.Loaded) rego.Config { return policyConfig(pluginsLast(l)) }
