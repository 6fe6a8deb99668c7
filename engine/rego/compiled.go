package rego

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Compiled is the built-in bundle in the form for WebAssembly, as Compile makes it.
type Compiled struct {
	Module []byte
	Rules  []byte // facts about its rules that the module lacks; JSON
	// Open makes a machine that runs a module with the document data, JSON.
	Open func(ctx context.Context, module, data []byte) (Machine, error)
}

// ErrOtherBundle is wrapped by the error for a Compiled that was made of other policies than Options.Bundle.
var ErrOtherBundle = errors.New("they are of another revision than the bundle")

// Machine runs a compiled module. It is safe for concurrent use.
type Machine interface {
	// Evaluate returns the result of an entrypoint for an input: OPA's list of results, JSON, with sets as
	// lists.
	Evaluate(ctx context.Context, entrypoint string, in *facts.Input) ([]byte, error)
	Close() error
}

// Entrypoints of a compiled bundle.
const (
	decisionEntry    = "sallyport/main/decision"
	explanationEntry = "sallyport/main/explanation"
)

// description is the content of Compiled.Rules.
type description struct {
	Revision string          `json:"revision"` // of the bundle that was compiled
	Optional []string        `json:"optional"` // categories that are judged only where one of their rules is on
	Rules    []describedRule `json:"rules"`    // sorted by id
}

type describedRule struct {
	ID          string                            `json:"id"`
	Title       string                            `json:"title"`
	Severity    string                            `json:"severity"`
	Remediation string                            `json:"remediation"`
	Defined     map[engine.Effect]engine.Location `json:"defined"`
}

// describe reads the description of the module.
func (c *Compiled) describe() (description, error) {
	var d description
	if err := strictly(c.Rules, &d); err != nil {
		return description{}, fmt.Errorf("read compiled policies: %w", err)
	}
	return d, nil
}

// rules are the rules of a description, as load makes them of sources.
func (d description) rules(revision string) ([]*rule, error) {
	if d.Revision != revision {
		return nil, fmt.Errorf("read compiled policies: %w: %q, not %q: run go generate ./policies", ErrOtherBundle, d.Revision, revision)
	}
	rules := make([]*rule, len(d.Rules))
	for i, r := range d.Rules {
		about := metadata{title: r.Title, severity: r.Severity, remediation: r.Remediation}
		rules[i] = &rule{id: r.ID, defined: r.Defined, about: func() (metadata, []Problem) { return about, nil }}
	}
	return rules, nil
}

// compiledRules judges by a compiled bundle.
type compiledRules struct {
	machine Machine
	digest  string // of its rules
	ids     map[string]bool
}

// start makes the machine for the loaded rules. The module has all rules, and takes their levels from data.
func (c *Compiled) start(ctx context.Context, p *ruleSet) (*compiledRules, error) {
	m := &compiledRules{ids: map[string]bool{}}
	levels, optional := map[string]string{}, []string{}
	var ids []string
	for _, r := range p.rules {
		if !r.custom() {
			ids = append(ids, r.id)
			m.ids[r.id], levels[r.id] = true, r.setting.level
			if !r.off() && slices.Contains(p.optional, r.category()) && !slices.Contains(optional, r.category()) {
				optional = append(optional, r.category())
			}
		}
	}
	m.digest = digestOf(ids)
	data := map[string]any{"sallyport": overlaid(p.data["sallyport"], map[string]any{"levels": levels, "optional": optional})}
	text, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("encode data: %w", err)
	}
	m.machine, err = c.Open(ctx, c.Module, text)
	return m, err
}

// overlaid is an object with more keys.
func overlaid(object any, more map[string]any) map[string]any {
	all := map[string]any{}
	if values, ok := object.(map[string]any); ok {
		maps.Copy(all, values)
	}
	maps.Copy(all, more)
	return all
}

// digestOf names a list of rules, in the order of their ids.
func digestOf(ids []string) string {
	sum := sha256.Sum256([]byte(strings.Join(ids, "\n")))
	return hex.EncodeToString(sum[:16])
}

// evaluate runs an entrypoint and takes its one result out of the list.
func (c *compiledRules) evaluate(ctx context.Context, entry string, in *facts.Input) (json.RawMessage, error) {
	text, err := c.machine.Evaluate(ctx, entry, in)
	if err != nil {
		return nil, fmt.Errorf("evaluate compiled policies: %w", err)
	}
	const before, after = `[{"result":`, `}]`
	if !bytes.HasPrefix(text, []byte(before)) || !bytes.HasSuffix(text, []byte(after)) {
		return nil, errors.New("evaluate compiled policies: the decision is undefined")
	}
	return text[len(before) : len(text)-len(after)], nil
}

// strictly decodes one JSON value of which every key is known.
func strictly(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the value")
	}
	return nil
}

// foundJSON and its parts are the forms of decision.go for JSON. Missing parts stay nil.
type foundJSON struct {
	Command *int    `json:"command"`
	Path    *int    `json:"path"`
	Message *string `json:"msg"`
}

type reasonJSON struct {
	Rule    string     `json:"rule"`
	Effect  string     `json:"effect"`
	Finding *foundJSON `json:"finding"`
}

type decisionJSON struct {
	Version   *int          `json:"version"`
	Effect    string        `json:"effect"`
	Evaluated *string       `json:"evaluated"`
	Reasons   *[]reasonJSON `json:"reasons"`
}

// decide evaluates the decision, and takes nothing of it for granted, as decodeDecision does.
func (c *compiledRules) decide(ctx context.Context, in *facts.Input) (decision, error) {
	text, err := c.evaluate(ctx, decisionEntry, in)
	if err != nil {
		return decision{}, err
	}
	d, err := c.decode(text)
	if err != nil {
		return decision{}, fmt.Errorf("read compiled decision: %w", err)
	}
	return d, nil
}

func (c *compiledRules) decode(text []byte) (decision, error) {
	var from decisionJSON
	if err := strictly(text, &from); err != nil {
		return decision{}, err
	}
	switch {
	case from.Version == nil || *from.Version != 1:
		return decision{}, errors.New("version is not 1")
	case from.Evaluated == nil || *from.Evaluated != c.digest:
		return decision{}, errNotEvaluated
	case from.Reasons == nil:
		return decision{}, errors.New("reasons is missing")
	}
	d := decision{}
	var err error
	if d.effect, err = effectOf(from.Effect, engine.Deny, engine.Ask, engine.Allow); err != nil {
		return decision{}, err
	}
	for _, r := range *from.Reasons {
		one := reason{rule: r.Rule}
		if !c.ids[r.Rule] {
			return decision{}, fmt.Errorf("rule %q is not loaded", r.Rule)
		}
		if one.effect, err = effectOf(r.Effect, engine.Deny, engine.Ask, engine.Warn); err == nil {
			one.finding, err = r.Finding.decode()
		}
		if err != nil {
			return decision{}, fmt.Errorf("rule %s: %w", r.Rule, err)
		}
		d.reasons = append(d.reasons, one)
	}
	return d, d.consistent()
}

func (f *foundJSON) decode() (finding, error) {
	if f == nil {
		return finding{}, errors.New("finding is missing")
	}
	out := finding{command: -1, path: -1}
	for _, index := range []struct {
		from *int
		into *int
		name string
	}{{f.Command, &out.command, "command"}, {f.Path, &out.path, "path"}} {
		if index.from == nil {
			continue
		}
		if *index.from < -1 {
			return finding{}, fmt.Errorf("finding: %s is not an index: %d", index.name, *index.from)
		}
		*index.into = *index.from
	}
	if f.Message != nil {
		if out.message = *f.Message; out.message == "" {
			return finding{}, errors.New("finding: msg is empty")
		}
	}
	return out, nil
}

// explain evaluates the explanation: the findings of each rule, and the exempt ones among them.
func (c *compiledRules) explain(ctx context.Context, in *facts.Input) (map[string]explained, error) {
	text, err := c.evaluate(ctx, explanationEntry, in)
	if err != nil {
		return nil, err
	}
	var from map[string]struct {
		Found    map[string][]*foundJSON `json:"found"`
		Exempted *[]json.RawMessage      `json:"exempted"` // each an effect and a finding
	}
	if err := strictly(text, &from); err != nil {
		return nil, fmt.Errorf("read compiled explanation: %w", err)
	}
	all := make(map[string]explained, len(from))
	for id, r := range from {
		if r.Exempted == nil || r.Found == nil {
			return nil, fmt.Errorf("read compiled explanation: rule %s: it is not whole", id)
		}
		one := explained{found: map[engine.Effect][]finding{}}
		for _, pair := range *r.Exempted {
			taken, err := exemptedJSON(pair)
			if err != nil {
				return nil, fmt.Errorf("read compiled explanation: rule %s: exempted: %w", id, err)
			}
			one.exempted = append(one.exempted, taken)
		}
		for verb, list := range r.Found {
			effect, err := effectOf(verb, verbs...)
			if err != nil {
				return nil, fmt.Errorf("read compiled explanation: rule %s: %w", id, err)
			}
			for _, f := range list {
				found, err := f.decode()
				if err != nil {
					return nil, fmt.Errorf("read compiled explanation: rule %s: %w", id, err)
				}
				one.found[effect] = append(one.found[effect], found)
			}
		}
		all[id] = one
	}
	return all, nil
}

// exemptedJSON reads an effect and a finding.
func exemptedJSON(text []byte) (reason, error) {
	var effect string
	var found *foundJSON
	pair := []any{&effect, &found}
	if err := strictly(text, &pair); err != nil {
		return reason{}, err
	}
	if len(pair) != 2 {
		return reason{}, fmt.Errorf("%d parts, not two", len(pair))
	}
	r := reason{}
	var err error
	if r.effect, err = effectOf(effect, verbs...); err != nil {
		return reason{}, err
	}
	r.finding, err = found.decode()
	return r, err
}
