package architecture

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"testing"
)

// TestPatternsCompile compiles the patterns of lazyregexp, which an invalid one would reach at its first use only, and
// refuses variables of packages that compile a pattern at each start.
func TestPatternsCompile(t *testing.T) {
	fset, files := sources(t)
	found := 0
	for _, s := range files {
		if s.test {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 || types.ExprString(call.Fun) != "lazyregexp.New" {
				return true
			}
			pattern, err := types.Eval(fset, nil, token.NoPos, types.ExprString(call.Args[0]))
			if err != nil || pattern.Value == nil {
				return true // of a table, which its own tests go through
			}
			found++
			if _, err := regexp.Compile(constant.StringVal(pattern.Value)); err != nil {
				t.Errorf("%s: %v", fset.Position(call.Pos()), err)
			}
			return true
		})
		for _, d := range s.file.Decls {
			vars, ok := d.(*ast.GenDecl)
			if !ok || vars.Tok != token.VAR || below(s.pkg, "internal") {
				continue
			}
			for _, spec := range vars.Specs {
				for _, v := range spec.(*ast.ValueSpec).Values {
					if call, ok := v.(*ast.CallExpr); ok && types.ExprString(call.Fun) == "regexp.MustCompile" {
						t.Errorf("%s: each start compiles this pattern: use lazyregexp.New", fset.Position(v.Pos()))
					}
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("%d patterns found: the test looks in the wrong place", found)
	}
}
