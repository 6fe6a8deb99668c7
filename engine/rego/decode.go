package rego

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/compiled"
)

// What policies decide is read here of terms, and in package compiled of JSON.
type (
	decision = compiled.Decision
	reason   = compiled.Reason
	finding  = compiled.Finding
)

// Bounds of the findings of policies in one request.
const (
	maxReasons = 10_000
	maxMessage = 64 << 10
)

// decodeDecision takes nothing for granted: each key is known and present, each value has its
// type, the rules that were evaluated are those of a digest, and the effect follows from the reasons.
func decodeDecision(t *ast.Term, loaded string) (decision, error) {
	var version, effect, reasons, evaluated *ast.Term
	err := fields(t, map[string]**ast.Term{"version": &version, "effect": &effect, "reasons": &reasons, "evaluated": &evaluated}, nil)
	if err != nil {
		return decision{}, err
	}
	if n, ok := integer(version); !ok || n != 1 {
		return decision{}, fmt.Errorf("version is %v, not 1", version)
	}
	if digest, ok := evaluated.Value.(ast.String); !ok || string(digest) != loaded {
		return decision{}, compiled.ErrNotEvaluated
	}
	d := decision{}
	if d.Effect, err = decodeEffect(effect, engine.Deny, engine.Ask, engine.Allow); err != nil {
		return decision{}, err
	}
	set, ok := reasons.Value.(ast.Set)
	if !ok {
		return decision{}, errors.New("reasons is not a set")
	}
	if set.Len() > maxReasons {
		return decision{}, fmt.Errorf("%d findings: at most %d are taken", set.Len(), maxReasons)
	}
	for _, term := range set.Slice() {
		r, err := decodeReason(term)
		if err != nil {
			return decision{}, err
		}
		d.Reasons = append(d.Reasons, r)
	}
	return d, d.Consistent()
}

func decodeReason(t *ast.Term) (reason, error) {
	var rule, effect, found *ast.Term
	if err := fields(t, map[string]**ast.Term{"rule": &rule, "effect": &effect, "finding": &found}, nil); err != nil {
		return reason{}, err
	}
	id, ok := rule.Value.(ast.String)
	if !ok {
		return reason{}, fmt.Errorf("a rule id is %v, not a string", rule)
	}
	e, err := decodeEffect(effect, engine.Deny, engine.Ask, engine.Warn)
	if err != nil {
		return reason{}, fmt.Errorf("rule %s: %w", id, err)
	}
	f, err := decodeFinding(found)
	if err != nil {
		return reason{}, fmt.Errorf("rule %s: %w", id, err)
	}
	return reason{Rule: string(id), Effect: e, Finding: f}, nil
}

func decodeFinding(t *ast.Term) (finding, error) {
	var command, path, message *ast.Term
	optional := map[string]**ast.Term{"command": &command, "path": &path, "msg": &message}
	if err := fields(t, nil, optional); err != nil {
		return finding{}, fmt.Errorf("finding %v: %w", t, err)
	}
	f := finding{Command: -1, Path: -1}
	for _, index := range []struct {
		term *ast.Term
		into *int
		name string
	}{{command, &f.Command, "command"}, {path, &f.Path, "path"}} {
		if index.term == nil {
			continue
		}
		n, ok := integer(index.term)
		if !ok || n < -1 {
			return finding{}, fmt.Errorf("finding %v: %s is not an index", t, index.name)
		}
		*index.into = n
	}
	if message != nil {
		text, ok := message.Value.(ast.String)
		if !ok || text == "" {
			return finding{}, fmt.Errorf("finding %v: msg is not a text", t)
		}
		if len(text) > maxMessage || !utf8.ValidString(string(text)) {
			return finding{}, fmt.Errorf("a msg of %d bytes is not taken: at most %d, of valid UTF-8", len(text), maxMessage)
		}
		f.Message = string(text)
	}
	return f, nil
}

func decodeEffect(t *ast.Term, known ...engine.Effect) (engine.Effect, error) {
	if s, ok := t.Value.(ast.String); ok {
		return compiled.EffectOf(string(s), known...)
	}
	return engine.Deny, fmt.Errorf("unknown effect %v", t)
}

// fields takes an object apart. Every key must be known, and every required one present.
func fields(t *ast.Term, required, optional map[string]**ast.Term) error {
	object, ok := t.Value.(ast.Object)
	if !ok {
		return fmt.Errorf("%v is not an object", t)
	}
	err := object.Iter(func(key, value *ast.Term) error {
		name, _ := key.Value.(ast.String)
		into, known := required[string(name)]
		if !known {
			into, known = optional[string(name)]
		}
		if !known {
			return fmt.Errorf("unknown key %v", key)
		}
		*into = value
		return nil
	})
	if err != nil {
		return err
	}
	for name, into := range required {
		if *into == nil {
			return fmt.Errorf("%s is missing", name)
		}
	}
	return nil
}

func integer(t *ast.Term) (int, bool) {
	n, ok := t.Value.(ast.Number)
	if !ok {
		return 0, false
	}
	return n.Int()
}
