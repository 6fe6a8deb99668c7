package rego

import (
	"github.com/open-policy-agent/opa/v1/ast"
)

// Reads reports whether any policy may read a field of the input, or a value that contains it. With false,
// inputs that differ in that field alone are judged alike.
func (e *Evaluator) Reads(field ...string) (bool, error) {
	all, err := e.all()
	if err != nil {
		return false, err
	}
	full := ast.InputRootRef
	for _, name := range field {
		full = full.Append(ast.StringTerm(name))
	}
	for _, module := range all.policies.compiler.Modules {
		found := false
		ast.WalkRefs(module, func(ref ast.Ref) bool {
			found = found || reaches(ref, full)
			return found
		})
		ast.WalkTerms(module, func(t *ast.Term) bool {
			if v, ok := t.Value.(ast.Var); ok && v.Equal(ast.InputRootDocument.Value) {
				found = true
			}
			_, isRef := t.Value.(ast.Ref)
			return found || isRef // the head of a ref is no use of its own
		})
		if found {
			return true, nil
		}
	}
	return false, nil
}

// reaches reports whether a ref may lead to a field, through it, or to a value that contains it.
func reaches(ref, field ast.Ref) bool {
	for i := 0; i < len(ref) && i < len(field); i++ {
		if ref[i].Equal(field[i]) {
			continue
		}
		if _, constant := ref[i].Value.(ast.String); constant || i == 0 {
			return false
		}
	}
	return true
}
