package rego

import (
	"cmp"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// A fact is a key of a shared object of facts: {"with_flag", "force"} is lib.with_flag.force. The
// key is there if and only if some command or path has that fact (package data.sallyport.lib).
type fact struct{ kind, name string }

func (f fact) compare(g fact) int {
	return cmp.Or(cmp.Compare(f.kind, g.kind), cmp.Compare(f.name, g.name))
}

// keyed are the objects of lib that have a key for each fact that is there.
var keyed = []string{
	"code_from", "code_origin", "in_zone", "named", "with_access", "with_certainty", "with_effect", "with_flag",
	"with_label",
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

// kinds are the fields of commands and paths, by the object of lib that has a key for each of their values.
var kinds = map[string]map[string]string{
	"commands": {
		"name": "named", "flags[]": "with_flag", "effects[]": "with_effect", "certainty": "with_certainty",
		"code.from": "code_from", "code.origin": "code_origin",
	},
	"paths": {"access": "with_access", "labels[]": "with_label", "zone": "in_zone"},
}

// waitsFor returns facts without any of which the set of a verb is empty, or none if that is not
// sure. It goes by the form of the rules: each body that adds to the set
// has an expression that fails without them, namely one that takes an element out of a shared set
// of facts, or out of a set of the package of which the same is true, or that compares a field of
// a command or path with constants.
//
// A custom rule that is not asked must have no error either. So nothing stands before that expression that
// can fail in another way than by being undefined, and no other package adds to its sets.
func (r *rule) waitsFor(set string) []fact {
	if r.shared {
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
	found := 0
	for _, src := range r.sources {
		for _, definition := range src.module.Rules {
			if ruleName(definition) != set {
				continue
			}
			found++
			w := &waiting{rule: r, module: src.module, above: above}
			facts := w.definition(definition)
			// Of several comprehensions each is a value of its own.
			if len(facts) == 0 || found > 1 && definition.Head.DocKind() != ast.PartialSetDoc {
				return nil
			}
			all = append(all, facts...)
		}
	}
	slices.SortFunc(all, fact.compare)
	return slices.Compact(all)
}

// waiting looks through one body after the other of a definition.
type waiting struct {
	*rule
	module *ast.Module
	above  map[string]bool
	local  ast.VarSet         // declared in the body
	items  map[ast.Var]string // local variables that are commands or paths
}

func (w *waiting) definition(definition *ast.Rule) []fact {
	head := definition.Head
	if definition.Default || definition.Else != nil || len(head.Ref()) != 1 || len(head.Args) > 0 {
		return nil
	}
	if head.DocKind() == ast.PartialSetDoc {
		return w.body(definition.Body)
	}
	if len(definition.Body) != 1 || !definition.Body[0].Equal(ast.NewExpr(ast.BooleanTerm(true))) {
		return nil
	}
	switch all := head.Value.Value.(type) { // a complete rule that is what a comprehension gathers
	case *ast.SetComprehension:
		return w.body(all.Body)
	case *ast.ObjectComprehension:
		return w.body(all.Body)
	}
	return nil
}

func (w *waiting) body(body ast.Body) []fact {
	w.local, w.items = declared(body), map[ast.Var]string{}
	for _, expr := range body {
		if !expr.Negated && len(expr.With) == 0 {
			if facts := w.expr(expr); len(facts) > 0 {
				return facts
			}
			w.note(expr)
		}
		if w.custom() && !w.quiet(expr) {
			return nil
		}
	}
	return nil
}

// expr returns facts without any of which an expression is undefined.
func (w *waiting) expr(expr *ast.Expr) []fact {
	if from, element := taken(expr); from != nil {
		if facts := w.term(from, element); len(facts) > 0 {
			return facts
		}
	}
	call := called(expr)
	switch {
	case len(call) == 3 && (ast.Equal.Ref().Equal(call[0].Value) || ast.Equality.Ref().Equal(call[0].Value)):
		for i := range 2 {
			if text, ok := call[1+i].Value.(ast.String); ok {
				return w.field(call[2-i], false, string(text))
			}
		}
	case len(call) == 3 && memberOf.Equal(call[0].Value) && !isDeclaration(expr):
		if text, ok := call[1].Value.(ast.String); ok {
			return w.field(call[2], true, string(text))
		}
		return w.field(call[1], false, w.constants(call[2])...)
	}
	return nil
}

// term returns facts without any of which a term is undefined, or, where the expression takes an element
// out of it, empty.
func (w *waiting) term(t *ast.Term, element bool) []fact {
	if call, ok := t.Value.(ast.Call); ok && element && len(call) == 2 {
		kind := map[string]string{"commands": "named", "paths": "with_access"}
		if name := w.ofLib(plain(call[0])); kind[name] != "" {
			return factsOf(kind[name], w.constants(call[1]))
		}
		return nil
	}
	ref := plain(t)
	if ref == nil || w.local.Contains(ref[0].Value.(ast.Var)) {
		return nil
	}
	full := resolved(w.module, ref)
	if !full.HasPrefix(libRoot) {
		if element && len(full) == 1 || len(full) == 2 {
			return w.waits(string(full[0].Value.(ast.Var)), w.above)
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

// ofLib is the name of a ref directly below lib; "" for any other.
func (w *waiting) ofLib(ref ast.Ref) string {
	if ref == nil || w.local.Contains(ref[0].Value.(ast.Var)) {
		return ""
	}
	if full := resolved(w.module, ref); full.HasPrefix(libRoot) && len(full) == len(libRoot)+1 {
		name, _ := full[len(libRoot)].Value.(ast.String)
		return string(name)
	}
	return ""
}

// field returns the facts of which one is there if a field of a command or path has one of these values,
// or, with among, holds it.
func (w *waiting) field(t *ast.Term, among bool, values ...string) []fact {
	ref := plain(t)
	if ref == nil || len(values) == 0 {
		return nil
	}
	list, rest := w.items[ref[0].Value.(ast.Var)], ref[1:]
	if list == "" && len(ref) > 3 && w.isList(ref[:2]) != "" {
		list, rest = w.isList(ref[:2]), ref[3:]
	}
	name := ""
	for i, part := range rest {
		switch key, ok := part.Value.(ast.String); {
		case !ok && i == len(rest)-1 && !among:
			name += "[]"
		case !ok:
			return nil
		case i == 0:
			name = string(key)
		default:
			name += "." + string(key)
		}
	}
	if among {
		name += "[]"
	}
	if kind := kinds[list][name]; kind != "" {
		return factsOf(kind, values)
	}
	return nil
}

func factsOf(kind string, names []string) []fact {
	facts := make([]fact, len(names))
	for i, name := range names {
		facts[i] = fact{kind, name}
	}
	return facts
}

// isList is the name of input.commands and input.paths; "" for any other term.
func (w *waiting) isList(ref ast.Ref) string {
	for name := range kinds {
		if ref.Equal(ast.InputRootRef.Append(ast.StringTerm(name))) {
			return name
		}
	}
	return ""
}

// note remembers variables that an expression makes commands or paths.
func (w *waiting) note(expr *ast.Expr) {
	call := called(expr)
	if len(call) < 3 {
		return
	}
	item, from := call[len(call)-2], plain(call[len(call)-1])
	v, ok := item.Value.(ast.Var)
	switch {
	case !ok || from == nil:
	case isDeclaration(expr):
		w.items[v] = w.isList(from)
	case expr.IsAssignment() && len(from) == 3:
		w.items[v] = w.isList(from[:2])
	}
}

// constants are the texts in a set or array that stands in the rule, or in the data.
func (w *waiting) constants(t *ast.Term) []string {
	value := t.Value
	if ref := plain(t); ref != nil && !w.local.Contains(ref[0].Value.(ast.Var)) {
		value = w.given(resolved(w.module, ref))
	}
	var terms []*ast.Term
	switch all := value.(type) {
	case ast.Set:
		terms = all.Slice()
	case *ast.Array:
		all.Foreach(func(t *ast.Term) { terms = append(terms, t) })
	}
	texts := make([]string, len(terms))
	for i, t := range terms {
		text, ok := t.Value.(ast.String)
		if !ok {
			return nil
		}
		texts[i] = string(text)
	}
	return texts
}

// given is the value of a place in the data files; nil for none, and where rules might be beside it.
func (w *waiting) given(full ast.Ref) ast.Value {
	if !full.HasPrefix(customRoot) {
		return nil
	}
	var value any = w.data
	for _, part := range full[1:] {
		object, _ := value.(map[string]any)
		name, ok := part.Value.(ast.String)
		if value = object[string(name)]; !ok || value == nil {
			return nil
		}
	}
	if _, object := value.(map[string]any); object {
		return nil
	}
	v, err := ast.InterfaceToValue(value)
	if err != nil {
		return nil
	}
	return v
}

// quiet reports whether an expression can do nothing but hold or not: it compares, and looks up values of
// the input, lib and the data files.
func (w *waiting) quiet(expr *ast.Expr) bool {
	if t, ok := expr.Terms.(*ast.Term); ok {
		return len(expr.With) == 0 && w.still(t)
	}
	if some, ok := expr.Terms.(*ast.SomeDecl); ok && called(expr) == nil {
		return !slices.ContainsFunc(some.Symbols, func(t *ast.Term) bool { return !w.still(t) })
	}
	call := called(expr)
	return len(expr.With) == 0 && len(call) > 0 && w.still(ast.CallTerm(call...))
}

// comparing are the builtin functions that fail for no argument.
var comparing = []*ast.Builtin{
	ast.Assign, ast.Equality, ast.Equal, ast.NotEqual, ast.Member, ast.MemberWithKey,
	ast.LessThan, ast.LessThanEq, ast.GreaterThan, ast.GreaterThanEq,
}

func (w *waiting) still(t *ast.Term) bool {
	all := func(terms []*ast.Term) bool {
		return !slices.ContainsFunc(terms, func(t *ast.Term) bool { return !w.still(t) })
	}
	switch v := t.Value.(type) {
	case ast.Call:
		known := slices.ContainsFunc(comparing, func(b *ast.Builtin) bool { return b.Ref().Equal(v[0].Value) })
		return known && all(v[1:])
	case ast.Var:
		return v.IsWildcard() || w.local.Contains(v) || v.Equal(ast.InputRootDocument.Value)
	case ast.Ref:
		head, ok := v[0].Value.(ast.Var)
		if !ok || !all(v[1:]) {
			return false
		}
		full := resolved(w.module, v)
		known := full.HasPrefix(libRoot) || w.given(full.GroundPrefix()) != nil
		return w.still(v[0]) || known && !w.local.Contains(head)
	default:
		return v.IsGround()
	}
}

// taken returns the term that an expression needs: that of some x in ref and of x in ref, which take
// an element out of it, or that of which the expression consists.
func taken(expr *ast.Expr) (from *ast.Term, element bool) {
	if t, ok := expr.Terms.(*ast.Term); ok {
		return t, false
	}
	call := called(expr)
	// One term more than these would be an output, which is there if ref is empty, too.
	if len(call) == 3 && memberOf.Equal(call[0].Value) || len(call) == 4 && entryOf.Equal(call[0].Value) {
		return call[len(call)-1], true
	}
	return nil, false
}

// called are the terms of a call: its operator, and what it is given.
func called(expr *ast.Expr) []*ast.Term {
	switch terms := expr.Terms.(type) {
	case *ast.SomeDecl:
		if len(terms.Symbols) == 1 {
			call, _ := terms.Symbols[0].Value.(ast.Call)
			return call
		}
	case []*ast.Term:
		return terms
	}
	return nil
}

func isDeclaration(expr *ast.Expr) bool {
	_, ok := expr.Terms.(*ast.SomeDecl)
	return ok
}

// present calls note for the facts of an input, those by which lib has its objects, until it returns false.
func present(in *facts.Input, note func(fact) bool) {
	each := func(kind string, names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return !note(fact{kind, name}) })
	}
	for i := range in.Commands {
		c := &in.Commands[i]
		if !each("named", c.Name) || !each("with_flag", c.Flags...) || !each("with_effect", c.Effects...) ||
			!each("with_certainty", c.Certainty) ||
			!each("code_from", c.Code.From) || !each("code_origin", c.Code.Origin) {
			return
		}
	}
	for i := range in.Paths {
		p := &in.Paths[i]
		if !each("with_access", p.Access) || !each("with_label", p.Labels...) || !each("in_zone", p.Zone) {
			return
		}
	}
}

// concerns reports whether topdown has to be asked about an input.
func (p *ruleSet) concerns(in *facts.Input) bool {
	concerned := p.awaited == nil
	if !concerned {
		present(in, func(f fact) bool { concerned = p.awaited[f]; return !concerned })
	}
	return concerned
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
