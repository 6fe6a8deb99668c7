package rego

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/compiled"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// An encoder turns a Go value into the Rego value that its JSON form would become, without the
// JSON in between. It is built once for a type; keys are terms that all values share.
//
// It knows the types of facts: structs, slices, strings, booleans, integers, floats and
// times. Fields are always present: a tag with omitempty is an error at construction.
type encoder struct {
	encode func(reflect.Value) *ast.Term
}

func encoderOf[T any]() (encoder, error) {
	encode, err := encoderFor(reflect.TypeFor[T]())
	return encoder{encode}, err
}

// value encodes the value behind a pointer.
func (e encoder) value(pointer any) ast.Value {
	return e.encode(reflect.ValueOf(pointer).Elem()).Value
}

func encoderFor(t reflect.Type) (func(reflect.Value) *ast.Term, error) {
	if t == reflect.TypeFor[time.Time]() {
		return func(v reflect.Value) *ast.Term {
			return ast.StringTerm(v.Interface().(time.Time).UTC().Format(time.RFC3339Nano))
		}, nil
	}
	switch t.Kind() {
	case reflect.String:
		return func(v reflect.Value) *ast.Term { return ast.InternedTerm(facts.Text(v.String())) }, nil
	case reflect.Bool:
		return func(v reflect.Value) *ast.Term { return ast.InternedTerm(v.Bool()) }, nil
	case reflect.Int:
		return func(v reflect.Value) *ast.Term { return ast.InternedTerm(int(v.Int())) }, nil
	case reflect.Float64:
		return func(v reflect.Value) *ast.Term { return ast.FloatNumberTerm(v.Float()) }, nil
	case reflect.Slice:
		return sliceEncoder(t)
	case reflect.Struct:
		return structEncoder(t)
	default:
		return nil, fmt.Errorf("encode policy input: a %s has no encoding", t)
	}
}

func sliceEncoder(t reflect.Type) (func(reflect.Value) *ast.Term, error) {
	element, err := encoderFor(t.Elem())
	if err != nil {
		return nil, err
	}
	return func(v reflect.Value) *ast.Term {
		if v.Len() == 0 {
			return ast.InternedEmptyArray
		}
		terms := make([]*ast.Term, v.Len())
		for i := range terms {
			terms[i] = element(v.Index(i))
		}
		return ast.ArrayTerm(terms...)
	}, nil
}

type fieldEncoder struct {
	key    *ast.Term
	encode func(reflect.Value) *ast.Term
}

func structEncoder(t reflect.Type) (func(reflect.Value) *ast.Term, error) {
	fields := make([]fieldEncoder, t.NumField())
	for i := range fields {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || options != "" || f.Anonymous || !f.IsExported() {
			return nil, fmt.Errorf("encode policy input: field %s.%s must have a plain JSON name", t, f.Name)
		}
		encode, err := encoderFor(f.Type)
		if err != nil {
			return nil, err
		}
		fields[i] = fieldEncoder{ast.StringTerm(name), encode}
	}
	encode := func(v reflect.Value) *ast.Term {
		pairs := make([][2]*ast.Term, len(fields))
		for i, f := range fields {
			pairs[i] = [2]*ast.Term{f.key, f.encode(v.Field(i))}
		}
		return ast.ObjectTerm(pairs...)
	}
	zero := encode(reflect.Zero(t))
	if !t.Comparable() {
		return func(v reflect.Value) *ast.Term {
			if v.IsZero() {
				return zero
			}
			return encode(v)
		}, nil
	}
	// From one request to the next, much of the input is the same: subject, runner, shell, code.
	type encoded struct {
		value any
		term  *ast.Term
	}
	var last atomic.Pointer[encoded]
	last.Store(&encoded{reflect.Zero(t).Interface(), zero})
	return func(v reflect.Value) *ast.Term {
		value := v.Interface()
		if l := last.Load(); l.value == value {
			return l.term
		}
		term := encode(v)
		last.Store(&encoded{value, term})
		return term
	}, nil
}

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
	err := fields(t, map[string]**ast.Term{"version": &version, "effect": &effect, "reasons": &reasons,
		"evaluated": &evaluated}, nil)
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
	if err := fields(t, map[string]**ast.Term{"rule": &rule, "effect": &effect, "finding": &found},
		nil); err != nil {
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
			return finding{}, fmt.Errorf("a msg of %d bytes is not taken: at most %d, of valid UTF-8", len(text),
				maxMessage)
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
