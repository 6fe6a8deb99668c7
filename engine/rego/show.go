package rego

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// SourceFile is a file of a rule.
type SourceFile struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Source returns the text of a rule that was loaded, by file.
func (e *Evaluator) Source(id string) ([]SourceFile, error) {
	all, err := e.all()
	if err != nil {
		return nil, err
	}
	r := all.policies.byID[id]
	if r == nil {
		return nil, fmt.Errorf("show rule %s: it is not loaded", id)
	}
	files := make([]SourceFile, len(r.sources))
	for i, src := range r.sources {
		files[i] = SourceFile{src.name, src.text}
	}
	return files, nil
}

// TestOf is a unit test that looks at a rule.
type TestOf struct {
	Name string `json:"name"`
	File string `json:"file"`
	Row  int    `json:"row"`
}

// TestsOf finds the unit tests in directories that refer to a rule, in the order of files.
func TestsOf(dirs []string, id string) ([]TestOf, error) {
	set := &fileSet{}
	set.readCustom(dirs, isRego)
	set.parse()
	if err := set.err(); err != nil {
		return nil, err
	}
	var tests []TestOf
	for _, src := range set.sources {
		if !src.test() || !refersTo(src.module, id) {
			continue
		}
		for _, r := range src.module.Rules {
			if name := ruleName(r); len(name) > len("test_") && name[:len("test_")] == "test_" {
				tests = append(tests, TestOf{"data." + packageName(src.module.Package.Path) + "." + name, src.name, r.Location.Row})
			}
		}
	}
	slices.SortFunc(tests, func(a, b TestOf) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Row, b.Row)) })
	return slices.CompactFunc(tests, func(a, b TestOf) bool { return a.Name == b.Name && a.File == b.File }), nil
}

// refersTo reports whether a module imports or reads the package of a rule, or adds to it.
func refersTo(module *ast.Module, id string) bool {
	if ruleID(module.Package.Path) == id {
		return true
	}
	found := false
	ast.WalkRefs(module, func(ref ast.Ref) bool {
		for n := 2; n <= len(ref) && !found; n++ {
			found = ruleID(ref[:n]) == id
		}
		return found
	})
	return found
}
