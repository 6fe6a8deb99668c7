package rego

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// vetter looks through one rule.
type vetter struct {
	*fileSet
	module *ast.Module
	types  types
	data   map[string]any
}

// body looks for expressions that can never hold, or never together.
func (v vetter) body(body ast.Body) {
	is := map[string]*ast.Term{} // the value that a ref was compared with
	for _, e := range body {
		if t, ok := e.Terms.(*ast.Term); ok && !e.Negated && t.Value.Compare(ast.Boolean(false)) == 0 {
			v.at(e.Location, "this never holds").as("never").suggest("take the rule away, or say when it does")
		}
		v.lookup(e)
		if e.IsCall() {
			v.call(e.Operator(), e.Operands())
			equality := e.Operator().String() == "equal" || e.IsEquality()
			if a, b := e.Operand(0), e.Operand(1); equality && !e.Negated && len(e.With) == 0 {
				v.contradiction(is, a, b)
				v.contradiction(is, b, a)
			}
		}
	}
}

// contradiction holds a comparison with a constant against an earlier one of the same ref.
func (v vetter) contradiction(is map[string]*ast.Term, ref, constant *ast.Term) {
	path, ok := ref.Value.(ast.Ref)
	if !ok || !scalar(constant) || slices.ContainsFunc(path, wildcard) {
		return // each _ is another
	}
	before := is[ref.String()]
	if before == nil {
		is[ref.String()] = constant
	} else if !before.Equal(constant) {
		v.at(constant.Location, "%v cannot be %v and %v at once", ref, before,
			constant).as("never").suggest("write %v in {%v, %v}", ref, before, constant)
	}
}

// term looks at calls inside terms, and at lookups by constant keys.
func (v vetter) term(t *ast.Term) {
	switch value := t.Value.(type) {
	case ast.Call:
		if op, ok := value[0].Value.(ast.Ref); ok {
			v.call(op, value[1:])
		}
	case ast.Ref:
		v.ref(value)
	}
}

// call compares constants in calls with the possible values of the other side.
func (v vetter) call(operator ast.Ref, args []*ast.Term) {
	switch name := operator.String(); {
	case len(args) >= 2 && slices.Contains([]string{"eq", "equal", "neq"}, name):
		if scalar(args[0]) && scalar(args[1]) && name != "neq" && !args[0].Equal(args[1]) {
			v.at(args[0].Location, "%v is never %v", args[0], args[1]).as("never")
		}
		if name != "neq" {
			v.kind(args[0], args[1])
			v.kind(args[1], args[0])
		}
		v.value(args[0], args[1])
		v.value(args[1], args[0])
	case len(args) >= 2 && operator.Equal(memberOf):
		v.member(args[0], args[1])
		v.collection(args[1])
	case len(args) >= 3 && operator.Equal(entryOf):
		v.collection(args[2])
	case len(args) >= 2 && name == "minus":
		v.subtraction(args[1])
	case strings.HasPrefix(name, "regex."):
		at := 0
		if name == "regex.replace" {
			at = 1
		}
		if len(args) > at {
			v.pattern(args[at])
		}
	}
}

// kind holds a constant against the kind of values that a field has.
func (v vetter) kind(field, constant *ast.Term) {
	if !scalar(constant) {
		return
	}
	if f := v.types.of(field); f != nil && f.never(constant.Value) {
		v.at(constant.Location, "%v is never %v", field, constant).as("never").suggest("its values are of type %s",
			f.Type)
	}
}

// value holds a constant against the closed list of values that a field has.
func (v vetter) value(field, constant *ast.Term) {
	text, ok := constant.Value.(ast.String)
	if !ok {
		return
	}
	if f := v.types.of(field); f != nil {
		v.oneOf(f, string(text), constant, fmt.Sprint(field))
	}
}

// member does the same for "x" in field, and for field in {"x", "y"}.
func (v vetter) member(element, collection *ast.Term) {
	if f := v.types.of(collection); f != nil {
		if text, ok := element.Value.(ast.String); ok {
			v.oneOf(f.Items, string(text), element, fmt.Sprint(collection))
		}
		return
	}
	each := func(t *ast.Term) { v.value(element, t) }
	switch c := collection.Value.(type) {
	case ast.Set:
		c.Foreach(each)
	case *ast.Array:
		c.Foreach(each)
	}
}

// collection flags an iteration over a single value of a data file: its body never matches.
func (v vetter) collection(t *ast.Term) {
	ref, ok := t.Value.(ast.Ref)
	if !ok {
		return
	}
	full := resolved(v.module, ref)
	if !full.HasPrefix(customRoot) {
		return
	}
	var at any = v.data
	for _, key := range full[1:] {
		name, ok := key.Value.(ast.String)
		object, isObject := at.(map[string]any)
		if !ok || !isObject {
			return
		}
		if at, ok = object[string(name)]; !ok {
			return
		}
	}
	switch at.(type) {
	case string, bool, json.Number, float64, nil:
		v.at(t.Location, "nothing is ever in %v: the data file has a single value there",
			full).as("never").suggest("write a list")
	}
}

func (v vetter) oneOf(f *form, text string, at *ast.Term, field string) {
	if f == nil || len(f.Enum) == 0 || slices.Contains(f.Enum, text) {
		return
	}
	p := v.at(at.Location, "%s is never %q", field, text).as("never")
	switch near := nearest(text, f.Enum); {
	case near != "":
		p.suggest("did you mean %q?", near)
	case len(f.Enum) > fewValues:
		p.suggest("docs/policy-input.md lists the values")
	default:
		p.suggest("it is one of %s", strings.TrimPrefix(strings.Join(f.Enum, ", "), ", "))
	}
}

// ref holds the constant keys of the shared sets against the values that there are.
func (v vetter) ref(ref ast.Ref) {
	full := resolved(v.module, ref)
	if full.HasPrefix(testingRoot) {
		v.at(ref[0].Location, "data.sallyport.testing is there in tests only: this is undefined").as(
			"unknown").suggest("move it into a file that ends in _test.rego")
	}
	if !full.HasPrefix(libRoot) || len(full) < len(libRoot)+2 {
		return
	}
	set, ok := full[len(libRoot)].Value.(ast.String)
	if !ok {
		return // lib[1], lib[x]: no set by name
	}
	name, key := set, full[len(libRoot)+1]
	if set == "targets" && len(full) > len(libRoot)+2 {
		set, key = "with_access", full[len(libRoot)+2]
	}
	if text, ok := key.Value.(ast.String); ok {
		v.oneOf(v.types.keys(string(set)), string(text), key, "the key of lib."+string(name))
	}
}

// lookup finds a negated lookup in a shared set: it is looked up before the negation, and where
// nothing has the fact, it is undefined, and so is the whole expression.
func (v vetter) lookup(e *ast.Expr) {
	if !e.Negated || !e.IsCall() || !e.Operator().Equal(memberOf) {
		return
	}
	if set := v.keyed(e.Operand(1)); set != "" {
		v.at(e.Location, "silent where nothing has this fact: %s is looked up before the negation", set).
			as("silent").suggest("write not %s[%v]", set, e.Operand(0))
	}
}

func (v vetter) subtraction(right *ast.Term) {
	if set := v.keyed(right); set != "" {
		v.at(right.Location, "silent where nothing has this fact: the subtracted value is then undefined").
			as("silent").suggest("write {x | some x in …; not %s[x]}", set)
	}
}

// keyed returns the text of a lookup by key in a shared set, "" for anything else.
func (v vetter) keyed(t *ast.Term) string {
	ref, ok := t.Value.(ast.Ref)
	if !ok {
		return ""
	}
	full := resolved(v.module, ref)
	if !full.HasPrefix(libRoot) || len(full) < len(libRoot)+2 {
		return ""
	}
	if set, _ := full[len(libRoot)].Value.(ast.String); set == "targets" || slices.Contains(keyed, string(set)) {
		return ref.String()
	}
	return ""
}

// pattern compiles a constant regular expression: a bad one is an error of every decision.
func (v vetter) pattern(t *ast.Term) {
	text, ok := t.Value.(ast.String)
	if !ok {
		return
	}
	if _, err := regexp.Compile(string(text)); err != nil {
		v.at(t.Location, "not a regular expression: %v",
			err).as("pattern").suggest("RE2 has no look-around and no back-references")
	}
}

func wildcard(t *ast.Term) bool {
	v, ok := t.Value.(ast.Var)
	return ok && v.IsWildcard()
}

func scalar(t *ast.Term) bool {
	switch t.Value.(type) {
	case ast.String, ast.Number, ast.Boolean, ast.Null:
		return true
	}
	return false
}

// fewValues is how many values a message lists.
const fewValues = 12
