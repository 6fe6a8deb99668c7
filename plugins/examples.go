package plugins

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/rego"
)

// Example is a command that a rule's metadata names, and whether the rule did with it what it says.
type Example struct {
	Rule    string `json:"rule"`
	Command string `json:"command"`
	Want    bool   `json:"want"` // true for an example, false for a look-alike
	Found   bool   `json:"found"`
}

// Examples lets every rule judge the examples and look-alikes of its own metadata, under the profile
// that these are meant for and with nothing relaxed, in a workspace and home of their own that are
// removed again. Nothing runs.
func Examples(ctx context.Context, l *config.Loaded, rules []rego.RuleInfo) (_ []Example, err error) {
	scratch, err := os.MkdirTemp("", "sallyport-examples-")
	if err != nil {
		return nil, fmt.Errorf("make workspace for examples: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	home := filepath.Join(scratch, "home", "user")
	workspace := filepath.Join(home, "project")
	if err := os.MkdirAll(workspace, 0o700); err != nil {
		return nil, fmt.Errorf("make workspace for examples: %w", err)
	}
	gates := map[string]*Sallyport{}
	defer func() {
		for _, g := range gates {
			err = errors.Join(err, g.Close())
		}
	}()
	var out []Example
	for _, rule := range rules {
		gate := gates[rule.Profile]
		if gate == nil {
			if gate, err = Assemble(ctx, l.Trial(home, workspace, rule.Profile), Options{CheckOnly: true}); err != nil {
				return nil, err
			}
			gates[rule.Profile] = gate
		}
		for i, command := range slices.Concat(rule.Examples, rule.Lookalikes) {
			effect, err := gate.effect(ctx, rule.ID, command)
			if err != nil {
				return nil, fmt.Errorf("judge example %q of %s: %w", command, rule.ID, err)
			}
			want := i < len(rule.Examples)
			// A rule that also warns of the milder case may do so of a look-alike.
			found := effect != "" && (want || effect != engine.Warn || len(rule.Effects) == 1)
			out = append(out, Example{Rule: rule.ID, Command: command, Want: want, Found: found})
		}
	}
	return out, nil
}

// effect returns the strictest effect that one rule has on a command, "" for none.
func (s *Sallyport) effect(ctx context.Context, rule, command string) (engine.Effect, error) {
	out, err := s.Check(ctx, engine.Request{Tool: "execute_command", Command: command})
	if err != nil {
		return "", err
	}
	if out.Fault != nil {
		return "", out.Fault
	}
	for _, r := range out.Decision.Reasons {
		if r.Rule == rule { // the strictest reasons come first
			return r.Effect, nil
		}
	}
	return "", nil
}
