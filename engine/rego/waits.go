package rego

import (
	"cmp"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// A fact is a key of a shared object of facts: {"with_flag", "force"} is lib.with_flag.force. The
// key is there if and only if some command or path has that fact (data.sallyport.lib.present).
type fact struct{ kind, name string }

func (f fact) compare(g fact) int {
	return cmp.Or(cmp.Compare(f.kind, g.kind), cmp.Compare(f.name, g.name))
}

// keyed are the objects of lib that have a key for each fact that is there.
var keyed = []string{
	"code_from", "code_origin", "in_zone", "named", "with_access", "with_certainty", "with_effect", "with_flag", "with_label",
}

// accessed are the sets of lib that are empty unless a path has one of these accesses.
var accessed = map[string][]fact{
	"reads":    {{"with_access", "read"}},
	"writes":   {{"with_access", "write"}},
	"deletes":  {{"with_access", "delete"}},
	"executes": {{"with_access", "execute"}},
	"changes":  {{"with_access", "delete"}, {"with_access", "write"}},
}

var (
	libRoot  = ast.MustParseRef("data.sallyport.lib")
	memberOf = ast.Member.Ref()        // x in ref
	entryOf  = ast.MemberWithKey.Ref() // k, x in ref
)

// waitsFor returns facts without any of which the set of a verb is empty, or none if that is not
// sure. It goes by the form of the rules: each body that adds to the set
// has an expression that fails without them, namely one that takes an element out of a shared set
// of facts, or out of a set of the package of which the same is true.
//
// Custom rules wait for nothing: a package of theirs can be added to from the one above it.
func (r *rule) waitsFor(set string) []fact {
	if r.custom() {
		return nil
	}
	return r.waits(set, map[string]bool{})
}

func (r *rule) waits(set string, above map[string]bool) []fact {
	if above[set] {
		return nil // recursive: OPA will refuse it
	}
	above[set] = true
	defer delete(above, set)
	var all []fact
	for _, src := range r.sources {
		for _, definition := range src.module.Rules {
			if ruleName(definition) != set {
				continue
			}
			facts := r.definitionWaits(src.module, definition, above)
			if len(facts) == 0 {
				return nil
			}
			all = append(all, facts...)
		}
	}
	slices.SortFunc(all, fact.compare)
	return slices.Compact(all)
}

func (r *rule) definitionWaits(module *ast.Module, definition *ast.Rule, above map[string]bool) []fact {
	head := definition.Head
	if definition.Default || definition.Else != nil || len(head.Ref()) != 1 || len(head.Args) > 0 || head.DocKind() != ast.PartialSetDoc {
		return nil
	}
	local := declared(definition.Body)
	for _, expr := range definition.Body {
		if expr.Negated || len(expr.With) > 0 {
			continue
		}
		ref, element := taken(expr)
		if ref == nil || local.Contains(ref[0].Value.(ast.Var)) {
			continue
		}
		if facts := r.refWaits(module, ref, element, above); len(facts) > 0 {
			return facts
		}
	}
	return nil
}

// refWaits returns facts without any of which ref is undefined, or, where the expression takes an
// element out of ref, empty.
func (r *rule) refWaits(module *ast.Module, ref ast.Ref, element bool, above map[string]bool) []fact {
	full := resolved(module, ref)
	if !full.HasPrefix(libRoot) {
		if element && len(full) == 1 || len(full) == 2 {
			return r.waits(string(full[0].Value.(ast.Var)), above)
		}
		return nil
	}
	path := full[len(libRoot):]
	if len(path) == 0 {
		return nil
	}
	shared, ok := path[0].Value.(ast.String)
	if !ok {
		return nil
	}
	if facts := accessed[string(shared)]; facts != nil && (element && len(path) == 1 || len(path) == 2) {
		return facts
	}
	if slices.Contains(keyed, string(shared)) && len(path) > 1 {
		if name, ok := path[1].Value.(ast.String); ok {
			return []fact{{string(shared), string(name)}}
		}
	}
	return nil
}

// taken returns the ref that an expression needs: that of some x in ref and of x in ref, which take
// an element out of it, or that of which the expression consists.
func taken(expr *ast.Expr) (ref ast.Ref, element bool) {
	var call []*ast.Term
	switch terms := expr.Terms.(type) {
	case *ast.Term:
		return plain(terms), false
	case *ast.SomeDecl:
		if len(terms.Symbols) == 1 {
			call, _ = terms.Symbols[0].Value.(ast.Call)
		}
	case []*ast.Term:
		call = terms
	}
	// One term more than these would be an output, which is there if ref is empty, too.
	if len(call) == 3 && memberOf.Equal(call[0].Value) || len(call) == 4 && entryOf.Equal(call[0].Value) {
		return plain(call[len(call)-1]), true
	}
	return nil, false
}

// plain is a term as a ref that begins with a variable, or nil.
func plain(t *ast.Term) ast.Ref {
	switch v := t.Value.(type) {
	case ast.Var:
		return ast.Ref{t}
	case ast.Ref:
		if _, ok := v[0].Value.(ast.Var); ok {
			return v
		}
	}
	return nil
}

// resolved replaces the name of an import at the head of a ref by its target.
func resolved(module *ast.Module, ref ast.Ref) ast.Ref {
	for _, imported := range module.Imports {
		if path, ok := imported.Path.Value.(ast.Ref); ok && imported.Name().Equal(ref[0].Value) {
			return path.Concat(ref[1:])
		}
	}
	return ref
}

// declared are the variables that a body declares, which hide imports and rules of that name.
func declared(body ast.Body) ast.VarSet {
	vars := ast.NewVarSet()
	note := func(terms ...*ast.Term) {
		for _, t := range terms {
			ast.WalkVars(t, func(v ast.Var) bool { vars.Add(v); return false })
		}
	}
	for _, expr := range body {
		switch terms := expr.Terms.(type) {
		case *ast.SomeDecl:
			for _, symbol := range terms.Symbols {
				if call, ok := symbol.Value.(ast.Call); ok {
					note(call[1 : len(call)-1]...)
				} else {
					note(symbol)
				}
			}
		case []*ast.Term:
			if expr.IsAssignment() {
				note(terms[1])
			}
		}
	}
	return vars
}
