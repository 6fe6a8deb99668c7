package rego

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

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
	return func(v reflect.Value) *ast.Term {
		pairs := make([][2]*ast.Term, len(fields))
		for i, f := range fields {
			pairs[i] = [2]*ast.Term{f.key, f.encode(v.Field(i))}
		}
		return ast.ObjectTerm(pairs...)
	}, nil
}
