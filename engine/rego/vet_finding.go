package rego

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// findingKeys are the keys of a finding.
var findingKeys = []string{"command", "msg", "path"}

// finding compares the elements that a rule adds to its set with the engine's format. An unreadable one is a
// fault, and denies every request for which the rule fires.
func (v vetter) finding(t *ast.Term, body ast.Body) {
	if variable, ok := t.Value.(ast.Var); ok {
		if t = assigned(variable, body); t == nil {
			return
		}
	}
	switch value := t.Value.(type) {
	case ast.Object:
		value.Foreach(v.findingField)
	case ast.Var, ast.Ref, *ast.ObjectComprehension:
		// Known only when it is evaluated.
	case ast.Call:
		if operator, ok := value[0].Value.(ast.Ref); ok && slices.Contains([]string{"sprintf", "concat"}, operator.String()) {
			v.notFinding(t)
		}
	default:
		v.notFinding(t)
	}
}

func (v vetter) notFinding(t *ast.Term) {
	v.at(t.Location, "a finding is an object, and this is %s", ast.ValueName(t.Value)).
		as("shape").suggest(`write {"command": i}, {"path": p} or {"msg": "…"}`)
}

func (v vetter) findingField(key, value *ast.Term) {
	text, ok := key.Value.(ast.String)
	if !ok {
		return
	}
	name := string(text)
	switch {
	case !slices.Contains(findingKeys, name):
		p := v.at(key.Location, "a finding has no %s", name).as("shape")
		if near := nearest(name, findingKeys); near != "" {
			p.suggest("did you mean %s?", near)
		} else {
			p.suggest("it has command and path, which are indexes into the input, and msg")
		}
	case name == "msg" && scalar(value):
		if text, ok := value.Value.(ast.String); !ok || text == "" {
			v.at(value.Location, "msg is a text").as("shape").suggest("leave it out, and the title of the rule is told")
		}
	case name != "msg" && scalar(value):
		if n, ok := integer(value); !ok || n < -1 {
			v.at(value.Location, "%s is an index into input.%ss", name, name).as("shape").suggest("write some i, c in input.%ss and %q: i", name, name)
		}
	}
}

// assigned is the value that a body assigns to a variable, or nil.
func assigned(v ast.Var, body ast.Body) *ast.Term {
	for _, e := range body {
		if e.IsAssignment() && e.Operand(0).Value.Compare(v) == 0 {
			return e.Operand(1)
		}
	}
	return nil
}
