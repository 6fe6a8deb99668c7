// Package compiled decides by the built-in bundle alone, compiled to WebAssembly: it reads the module's
// answer, checks its shape and joins the findings with the titles and remediations of their rules.
//
// It promises the same decision as package rego for the same input, and an error in place of any answer that
// it cannot check. It knows no Rego and links no OPA: bundles and the rules of the operator belong to package
// rego.
package compiled

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
	"sync/atomic"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Bundle is the built-in bundle in the form for WebAssembly, as rego.Compile makes it.
type Bundle struct {
	Module []byte
	Rules  []byte // facts about its rules that the module lacks; JSON
	// Open makes a machine that runs a module with the document data, JSON.
	Open func(ctx context.Context, module, data []byte) (Machine, error)
}

// ErrOtherBundle is wrapped by the error for a Bundle that was made of other policies than it is used with.
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
	DecisionEntry    = "sallyport/main/decision"
	ExplanationEntry = "sallyport/main/explanation"
)

// Description is the content of Bundle.Rules.
type Description struct {
	Revision string          `json:"revision"` // of the bundle that was compiled
	Optional []string        `json:"optional"` // categories that are judged only where one of their rules is on
	Rules    []DescribedRule `json:"rules"`    // sorted by id
}

// DescribedRule is one of its rules.
type DescribedRule struct {
	ID          string                            `json:"id"`
	Title       string                            `json:"title"`
	Severity    string                            `json:"severity"`
	Remediation string                            `json:"remediation"`
	Trial       bool                              `json:"trial,omitempty"`
	Defined     map[engine.Effect]engine.Location `json:"defined"`
}

// Describe reads the description of the module.
func (c *Bundle) Describe() (Description, error) {
	var d Description
	if err := strictly(c.Rules, &d); err != nil {
		return Description{}, fmt.Errorf("read compiled policies: %w", err)
	}
	return d, nil
}

// CheckRevision returns ErrOtherBundle where the description is of other policies than those of a revision.
func (d Description) CheckRevision(revision string) error {
	if d.Revision != revision {
		return fmt.Errorf("read compiled policies: %w: %q, not %q: run go generate ./policies", ErrOtherBundle,
			d.Revision, revision)
	}
	return nil
}

// Rules judges by a compiled bundle. It is safe for concurrent use.
type Rules struct {
	Machine Machine
	digest  string // of its rules
	ids     map[string]bool
	quiet   atomic.Pointer[quiet]
}

// quiet is a decision without reasons, and its text: most are the same.
type quiet struct {
	text     []byte
	decision Decision
}

// Start makes the machine for the rules of a description, whose levels are given, and a document data. The
// module has all rules, and learns their levels from data.
func (c *Bundle) Start(ctx context.Context, d Description, levels map[string]string,
	data map[string]any) (*Rules, error) {
	m := &Rules{ids: map[string]bool{}}
	optional := []string{}
	ids := make([]string, len(d.Rules))
	for i, r := range d.Rules {
		ids[i], m.ids[r.ID] = r.ID, true
		category, _, _ := strings.Cut(r.ID, "/")
		if levels[r.ID] != "off" && slices.Contains(d.Optional, category) && !slices.Contains(optional, category) {
			optional = append(optional, category)
		}
	}
	m.digest = DigestOf(ids)
	text, err := json.Marshal(map[string]any{"sallyport": overlaid(data["sallyport"],
		map[string]any{"levels": levels, "optional": optional})})
	if err != nil {
		return nil, fmt.Errorf("encode data: %w", err)
	}
	m.Machine, err = c.Open(ctx, c.Module, text)
	return m, err
}

// Digest names the rules, as their decisions must.
func (c *Rules) Digest() string { return c.digest }

// overlaid is an object with more keys.
func overlaid(object any, more map[string]any) map[string]any {
	all := map[string]any{}
	if values, ok := object.(map[string]any); ok {
		maps.Copy(all, values)
	}
	maps.Copy(all, more)
	return all
}

// DigestOf names a list of rules, in the order of their ids.
func DigestOf(ids []string) string {
	sum := sha256.Sum256([]byte(strings.Join(ids, "\n")))
	return hex.EncodeToString(sum[:16])
}

// evaluate runs an entrypoint and takes its one result out of the list.
func (c *Rules) evaluate(ctx context.Context, entry string, in *facts.Input) (json.RawMessage, error) {
	text, err := c.Machine.Evaluate(ctx, entry, in)
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

// Decide evaluates the decision, and takes nothing of it for granted.
func (c *Rules) Decide(ctx context.Context, in *facts.Input) (Decision, error) {
	text, err := c.evaluate(ctx, DecisionEntry, in)
	if err != nil {
		return Decision{}, err
	}
	if last := c.quiet.Load(); last != nil && bytes.Equal(text, last.text) {
		return last.decision, nil
	}
	d, err := c.decode(text)
	if err != nil {
		return Decision{}, fmt.Errorf("read compiled decision: %w", err)
	}
	if len(d.Reasons) == 0 {
		c.quiet.Store(&quiet{bytes.Clone(text), d})
	}
	return d, nil
}

func (c *Rules) decode(text []byte) (Decision, error) {
	var from decisionJSON
	if err := strictly(text, &from); err != nil {
		return Decision{}, err
	}
	switch {
	case from.Version == nil || *from.Version != 1:
		return Decision{}, errors.New("version is not 1")
	case from.Evaluated == nil || *from.Evaluated != c.digest:
		return Decision{}, ErrNotEvaluated
	case from.Reasons == nil:
		return Decision{}, errors.New("reasons is missing")
	}
	d := Decision{}
	var err error
	if d.Effect, err = EffectOf(from.Effect, engine.Deny, engine.Ask, engine.Allow); err != nil {
		return Decision{}, err
	}
	for _, r := range *from.Reasons {
		one := Reason{Rule: r.Rule}
		if !c.ids[r.Rule] {
			return Decision{}, fmt.Errorf("rule %q is not loaded", r.Rule)
		}
		if one.Effect, err = EffectOf(r.Effect, engine.Deny, engine.Ask, engine.Warn); err == nil {
			one.Finding, err = r.Finding.decode()
		}
		if err != nil {
			return Decision{}, fmt.Errorf("rule %s: %w", r.Rule, err)
		}
		d.Reasons = append(d.Reasons, one)
	}
	return d, d.Consistent()
}

func (f *foundJSON) decode() (Finding, error) {
	if f == nil {
		return Finding{}, errors.New("finding is missing")
	}
	out := Finding{Command: -1, Path: -1}
	for _, index := range []struct {
		from *int
		into *int
		name string
	}{{f.Command, &out.Command, "command"}, {f.Path, &out.Path, "path"}} {
		if index.from == nil {
			continue
		}
		if *index.from < -1 {
			return Finding{}, fmt.Errorf("finding: %s is not an index: %d", index.name, *index.from)
		}
		*index.into = *index.from
	}
	if f.Message != nil {
		if out.Message = *f.Message; out.Message == "" {
			return Finding{}, errors.New("finding: msg is empty")
		}
	}
	return out, nil
}

// Explain evaluates the explanation: the findings of each rule, and those that are exempt.
func (c *Rules) Explain(ctx context.Context, in *facts.Input) (map[string]Explained, error) {
	text, err := c.evaluate(ctx, ExplanationEntry, in)
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
	all := make(map[string]Explained, len(from))
	for id, r := range from {
		if r.Exempted == nil || r.Found == nil {
			return nil, fmt.Errorf("read compiled explanation: rule %s: it is not whole", id)
		}
		one := Explained{Found: map[engine.Effect][]Finding{}}
		for _, pair := range *r.Exempted {
			taken, err := exemptedJSON(pair)
			if err != nil {
				return nil, fmt.Errorf("read compiled explanation: rule %s: exempted: %w", id, err)
			}
			one.Exempted = append(one.Exempted, taken)
		}
		for verb, list := range r.Found {
			effect, err := EffectOf(verb, Verbs...)
			if err != nil {
				return nil, fmt.Errorf("read compiled explanation: rule %s: %w", id, err)
			}
			for _, f := range list {
				found, err := f.decode()
				if err != nil {
					return nil, fmt.Errorf("read compiled explanation: rule %s: %w", id, err)
				}
				one.Found[effect] = append(one.Found[effect], found)
			}
		}
		all[id] = one
	}
	return all, nil
}

// exemptedJSON reads an effect and a finding.
func exemptedJSON(text []byte) (Reason, error) {
	var effect string
	var found *foundJSON
	pair := []any{&effect, &found}
	if err := strictly(text, &pair); err != nil {
		return Reason{}, err
	}
	if len(pair) != 2 {
		return Reason{}, fmt.Errorf("%d parts, not two", len(pair))
	}
	r := Reason{}
	var err error
	if r.Effect, err = EffectOf(effect, Verbs...); err != nil {
		return Reason{}, err
	}
	r.Finding, err = found.decode()
	return r, err
}
