package rego

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// Function returns a builtin function of Rego for evaluators other than OPA's own, such as compiled
// policies: nil where policies may not use one of that name. Arguments and the result are values in
// Rego's notation, so that sets stay sets; a result of "" means undefined. An error of the function
// is an error, as in the evaluation of policies here.
func Function(name string) func(ctx context.Context, args []string) (string, error) {
	allowed := slices.ContainsFunc(capabilities().Builtins, func(b *ast.Builtin) bool { return b.Name == name })
	call := topdown.GetBuiltin(name)
	if !allowed || call == nil {
		return nil
	}
	return func(ctx context.Context, args []string) (string, error) {
		terms := make([]*ast.Term, len(args))
		for i, text := range args {
			var err error
			if terms[i], err = parseValue(text); err != nil {
				return "", fmt.Errorf("%s: argument %d: %w", name, i+1, err)
			}
		}
		var result *ast.Term
		b := topdown.BuiltinContext{Context: ctx, Cancel: topdown.NewCancel(), Capabilities: capabilities()}
		err := call(b, terms, func(t *ast.Term) error {
			result = t
			return nil
		})
		if err != nil || result == nil {
			return "", err
		}
		var text strings.Builder
		if err := notation(&text, result.Value); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		return text.String(), nil
	}
}

// parseValue reads a value. Most are plain texts, for which the parser of Rego would be a detour.
func parseValue(text string) (*ast.Term, error) {
	if strings.HasPrefix(text, `"`) {
		var s string
		if json.Unmarshal([]byte(text), &s) == nil {
			return ast.StringTerm(s), nil
		}
	}
	return ast.ParseTerm(text)
}

// notation writes a value with the escapes of JSON, which all readers of Rego values know.
func notation(w *strings.Builder, v ast.Value) error {
	list := func(opening, closing string, each func(func(*ast.Term) error) error) error {
		w.WriteString(opening)
		first := true
		err := each(func(t *ast.Term) error {
			if !first {
				w.WriteByte(',')
			}
			first = false
			return notation(w, t.Value)
		})
		w.WriteString(closing)
		return err
	}
	switch v := v.(type) {
	case ast.Null, ast.Boolean, ast.Number:
		w.WriteString(v.String())
		return nil
	case ast.String:
		text, err := json.Marshal(string(v))
		w.Write(text)
		return err
	case *ast.Array:
		return list("[", "]", v.Iter)
	case ast.Set:
		if v.Len() == 0 {
			w.WriteString("set()")
			return nil
		}
		return list("{", "}", v.Iter)
	case ast.Object:
		w.WriteByte('{')
		first := true
		err := v.Iter(func(key, value *ast.Term) error {
			if !first {
				w.WriteByte(',')
			}
			first = false
			if err := notation(w, key.Value); err != nil {
				return err
			}
			w.WriteByte(':')
			return notation(w, value.Value)
		})
		w.WriteByte('}')
		return err
	}
	return errors.New("its result is no value")
}
