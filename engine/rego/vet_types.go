package rego

import (
	"encoding/json"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// form is as much of a JSON schema as it takes to know which values a field may have.
type form struct {
	Enum       []string         `json:"-"`
	Properties map[string]*form `json:"properties"`
	Items      *form            `json:"items"`
	Values     []any            `json:"enum"`
	Type       string           `json:"type"`
}

func inputForm() (*form, error) {
	text, err := facts.Schema()
	if err != nil {
		return nil, err
	}
	f := &form{}
	return f, json.Unmarshal(text, f)
}

// UnmarshalJSON keeps lists of texts as such. All closed lists of the input are texts.
func (f *form) UnmarshalJSON(text []byte) error {
	type plain form
	if err := json.Unmarshal(text, (*plain)(f)); err != nil {
		return err
	}
	for _, v := range f.Values {
		if s, ok := v.(string); ok {
			f.Enum = append(f.Enum, s)
		}
	}
	return nil
}

// never reports whether no value of this form is of a constant's kind, which an equation between them needs.
func (f *form) never(constant ast.Value) bool {
	kinds := map[string]string{"string": "string", "boolean": "boolean", "integer": "number", "number": "number",
		"array": "array", "object": "object"}
	have, known := kinds[f.Type]
	return known && have != ast.ValueName(constant)
}

// types are the forms of a rule's variables, as far as its text shows them.
type types struct {
	module *ast.Module
	input  *form
	bound  map[ast.Var][]*ast.Term // a variable to the value that it is, or is an element of
	within map[ast.Var]bool        // the terms are collections, of which the variable is an element
}

// typesOf notes the variables that a rule declares: some x in …, every x in …, x := ….
func typesOf(module *ast.Module, r *ast.Rule, input *form) types {
	t := types{module: module, input: input, bound: map[ast.Var][]*ast.Term{}, within: map[ast.Var]bool{}}
	note := func(variable, term *ast.Term, within bool) {
		if v, ok := variable.Value.(ast.Var); ok {
			t.bound[v] = append(t.bound[v], term)
			t.within[v] = within
		}
	}
	ast.WalkExprs(r, func(e *ast.Expr) bool {
		switch terms := e.Terms.(type) {
		case *ast.SomeDecl:
			for _, s := range terms.Symbols {
				if call, ok := s.Value.(ast.Call); ok {
					note(call[len(call)-2], call[len(call)-1], true)
				}
			}
		case *ast.Every:
			note(terms.Value, terms.Domain, true)
		case []*ast.Term:
			if e.IsAssignment() {
				note(e.Operand(0), e.Operand(1), false)
			}
		}
		return false
	})
	return t
}

// of returns the form of a term, nil where it is not known.
func (t types) of(term *ast.Term) *form { return t.at(term, 0) }

// maxSteps bounds how far definitions are followed: a := b, b := a.
const maxSteps = 16

func (t types) at(term *ast.Term, steps int) *form {
	if steps > maxSteps {
		return nil
	}
	switch value := term.Value.(type) {
	case ast.Var:
		if value.Equal(ast.InputRootDocument.Value) {
			return t.input
		}
		if len(t.bound[value]) != 1 { // declared twice: it depends on where it stands
			return nil
		}
		f := t.at(t.bound[value][0], steps+1)
		if f != nil && t.within[value] {
			return f.Items
		}
		return f
	case ast.Call:
		return t.result(value)
	case ast.Ref:
		ref := resolved(t.module, value)
		f := t.at(ref[0], steps+1)
		for _, key := range ref[1:] {
			if f == nil {
				return nil
			}
			name, ok := key.Value.(ast.String)
			switch {
			case f.Items != nil:
				f = f.Items
			case ok:
				f = f.Properties[string(name)]
			default:
				return nil
			}
		}
		return f
	}
	return nil
}

// result is the form of the result of a library function.
func (t types) result(call ast.Call) *form {
	operator, ok := call[0].Value.(ast.Ref)
	if !ok {
		return nil
	}
	full := resolved(t.module, operator)
	if !full.HasPrefix(libRoot) || len(full) != len(libRoot)+1 {
		return nil
	}
	name, _ := full[len(libRoot)].Value.(ast.String)
	switch {
	case slices.Contains([]string{"commands", "pipeline"}, string(name)):
		return t.input.Properties["commands"]
	case slices.Contains([]string{"paths", "paths_in", "paths_of"}, string(name)):
		return t.input.Properties["paths"]
	}
	return nil
}

// keys is the form of the keys of a shared set.
func (t types) keys(set string) *form {
	path := map[string][]string{
		"with_flag": {"commands", "flags"}, "with_effect": {"commands", "effects"},
		"with_certainty": {"commands", "certainty"},
		"code_from":      {"commands", "code", "from"}, "code_origin": {"commands", "code", "origin"},
		"with_access": {"paths", "access"}, "with_label": {"paths", "labels"}, "in_zone": {"paths", "zone"},
	}[set]
	f := t.input
	if path == nil {
		return nil
	}
	for _, name := range path {
		if f.Items != nil {
			f = f.Items
		}
		f = f.Properties[name]
	}
	if f.Items != nil {
		return f.Items
	}
	return f
}
