package rego

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	opa "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// WhyNot tells of each clause of a rule at which expression it fails for an input.
type WhyNot struct {
	Awaited []Awaited `json:"awaited"` // sets that no decision about this input evaluates
	Clauses []Clause  `json:"clauses"` // in the order of their places
}

// Awaited is a set of a rule that is not evaluated, because the input has none of the facts that it needs.
type Awaited struct {
	Set   string   `json:"set"`   // deny, ask or warn
	Facts []string `json:"facts"` // for people: "command with the flag force"
}

// Clause is one definition of a set of a rule, or of a helper in its package.
type Clause struct {
	Name     string          `json:"name"` // deny, ask or warn, or that of the helper
	Location engine.Location `json:"location"`
	Holds    bool            `json:"holds"`            // it gives a result
	Failed   *Failure        `json:"failed,omitempty"` // nil: it holds, or was not evaluated
}

// Failure is the expression at which a clause failed, in the first of the attempts that came furthest.
type Failure struct {
	Text     string          `json:"text"` // as it stands in the file
	Location engine.Location `json:"location"`
	Attempts int             `json:"attempts"`          // how many came as far
	Negated  bool            `json:"negated,omitempty"` // it begins with not: its condition holds
	Missing  []string        `json:"missing,omitempty"` // facts that it needs and the input lacks, for people
	Values   []Value         `json:"values"`            // of the names in it
	Below    []Clause        `json:"below,omitempty"`   // the helpers that failed with it
}

// Value is the value of a name or a call in an expression.
type Value struct {
	Name      string `json:"name"`
	Value     any    `json:"value,omitempty"` // as encoding/json has it; sets are lists
	Same      string `json:"same,omitempty"`  // in place of a value: its place, "input.commands[0]"
	Undefined bool   `json:"undefined,omitempty"`
}

// WhyNot evaluates one rule, whatever its level, and lists its clauses. It does not redact secrets among the
// values. An unknown rule is an error, and so is one that cannot be evaluated.
func (e *Evaluator) WhyNot(ctx context.Context, in *facts.Input, id string) (WhyNot, error) {
	all, err := e.all()
	if err != nil {
		return WhyNot{}, err
	}
	r := all.policies.byID[id]
	if r == nil {
		return WhyNot{}, fmt.Errorf("explain rule %s: it is not loaded", id)
	}
	why := WhyNot{Awaited: []Awaited{}, Clauses: []Clause{}}
	input := all.encode.value(in)
	for _, verb := range r.verbs() {
		if awaited := r.waitsFor(verb); len(awaited) > 0 && !anyPresent(in, awaited) {
			why.Awaited = append(why.Awaited, Awaited{verb, describe(awaited)})
		}
		query, err := all.prepare(ctx, ast.NewTerm(r.pkg.Append(ast.StringTerm(verb))))
		if err != nil {
			return WhyNot{}, err
		}
		t := newAttempts(r, all.policies.compiler.RewrittenVars)
		options := []opa.EvalOption{
			opa.EvalQueryTracer(t), opa.EvalRuleIndexing(false), opa.EvalEarlyExit(false),
		}
		if _, err = all.eval(ctx, &query, input, options...); err != nil {
			return WhyNot{}, fmt.Errorf("explain rule %s: %w", id, err)
		}
		teller := teller{ctx, all, r, in, input, t}
		why.Clauses = append(why.Clauses, teller.clauses(t.of(verb))...)
	}
	slices.SortStableFunc(why.Clauses, func(a, b Clause) int {
		x, y := a.Location, b.Location
		return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Row, y.Row))
	})
	return why, nil
}

func anyPresent(in *facts.Input, wanted []fact) bool {
	found := false
	present(in, func(f fact) bool { found = slices.Contains(wanted, f); return !found })
	return found
}

// describe names facts for people.
func describe(all []fact) []string {
	forms := map[string]string{
		"code_from": "code from %s", "code_origin": "code of the origin %s", "in_zone": "path in the zone %s",
		"named": "command %s", "with_access": "path with the access %s",
		"with_certainty": "command of the certainty %s",
		"with_effect":    "command with the effect %s", "with_flag": "command with the flag %s",
		"with_label": "path with the label %s",
	}
	texts := make([]string, len(all))
	for i, f := range all {
		texts[i] = fmt.Sprintf(forms[f.kind], f.name)
	}
	return texts
}

// teller puts attempts into words.
type teller struct {
	ctx   context.Context
	all   *interpreter
	rule  *rule
	in    *facts.Input
	input ast.Value
	seen  *attempts
}

// clauses describes attempts, one for each definition: the one that came furthest.
func (t teller) clauses(tried []*attempt) []Clause {
	best := map[*ast.Rule]*attempt{}
	var order []*ast.Rule
	for _, a := range tried {
		was := best[a.rule]
		if was == nil {
			order = append(order, a.rule)
		}
		if was == nil || !was.held && (a.held || a.failed.index > was.failed.index) {
			best[a.rule] = a
		}
	}
	clauses := make([]Clause, len(order))
	for i, definition := range order {
		clauses[i] = t.clause(best[definition])
	}
	return clauses
}

func (t teller) clause(a *attempt) Clause {
	at := a.rule.Location
	c := Clause{Name: ruleName(a.rule), Location: engine.Location{File: at.File, Row: at.Row}, Holds: a.held}
	if a.held || a.failed.count == 0 {
		return c
	}
	f := &Failure{Attempts: a.failed.count, Values: []Value{}}
	f.Location = engine.Location{File: at.File, Row: a.failed.at.Row}
	c.Failed = f
	src, definition := t.rule.definition(at)
	if src == nil {
		return c
	}
	f.Text = strings.TrimSpace(lineOf(src.text, a.failed.at.Row))
	body := definition.Body
	i := slices.IndexFunc(body, func(e *ast.Expr) bool { return covers(e.Location, a.failed.at) })
	if i < 0 { // the head: part of it has no value
		return c
	}
	expr := body[i]
	f.Text = strings.TrimSpace(string(expr.Location.Text))
	f.Location.Row, f.Negated = expr.Location.Row, expr.Negated
	w := &waiting{rule: t.rule, module: src.module, above: map[string]bool{}}
	w.local, w.items = declared(body), map[ast.Var]string{}
	for _, before := range body[:i] {
		w.note(before)
	}
	if !expr.Negated && len(expr.With) == 0 {
		if needed := w.expr(expr); len(needed) > 0 && !anyPresent(t.in, needed) {
			f.Missing = describe(needed)
		}
		f.Below = t.clauses(slices.DeleteFunc(a.failed.below, func(a *attempt) bool { return a.held }))
		if len(f.Below) == 0 {
			f.Below = t.known(src.module, expr)
		}
	}
	f.Values = t.values(src.module, expr, a.failed.bound)
	return c
}

// known are the failed clauses of helpers without arguments that were evaluated for an earlier expression.
func (t teller) known(module *ast.Module, expr *ast.Expr) []Clause {
	var tried []*attempt
	ast.WalkTerms(expr, func(term *ast.Term) bool {
		if ref := plain(term); ref != nil {
			name, full := "", resolved(module, ref)
			if v, ok := full[0].Value.(ast.Var); ok {
				name = string(v)
			}
			for _, a := range t.seen.first {
				if !a.held && ruleName(a.rule) == name && len(a.rule.Head.Args) == 0 {
					tried = append(tried, a)
				}
			}
		}
		return false
	})
	return t.clauses(tried)
}

// definition is the definition at a place as it was parsed, before the compiler rewrote it, and its file.
func (r *rule) definition(at *ast.Location) (*source, *ast.Rule) {
	for _, src := range r.sources {
		if src.name != at.File {
			continue
		}
		for _, definition := range src.module.Rules {
			for d := definition; d != nil; d = d.Else {
				if d.Location.Offset == at.Offset {
					return src, d
				}
			}
		}
	}
	return nil, nil
}

func covers(outer, at *ast.Location) bool {
	return at.Offset >= outer.Offset && at.Offset < outer.Offset+len(outer.Text)
}

func lineOf(text string, row int) string {
	lines := strings.Split(text, "\n")
	if row < 1 || row > len(lines) {
		return ""
	}
	return lines[row-1]
}

// values are those of the names and calls in an expression, as far as it was bound.
func (t teller) values(module *ast.Module, expr *ast.Expr, bound map[ast.Var]*ast.Term) []Value {
	values := []Value{}
	note := func(term *ast.Term) {
		name := term.String()
		if at := term.Location; at != nil && len(at.Text) > 0 && !slices.Contains(at.Text, '\n') {
			name = string(at.Text)
		}
		if slices.ContainsFunc(values, func(v Value) bool { return v.Name == name }) {
			return
		}
		if v, ok := t.value(module, term, bound); ok {
			v.Name = name
			values = append(values, v)
		}
	}
	var walk func(*ast.Term)
	walk = func(term *ast.Term) {
		switch v := term.Value.(type) {
		case ast.Call:
			if t.isFunction(module, v[0]) {
				note(term)
			}
			for _, arg := range v[1:] {
				walk(arg)
			}
		case ast.Var:
			note(term)
		case ast.Ref:
			note(term)
			for _, part := range v[1:] {
				walk(part)
			}
		case *ast.Array:
			v.Foreach(walk)
		case ast.Set:
			v.Foreach(walk)
		}
	}
	switch terms := expr.Terms.(type) {
	case *ast.Term:
		walk(terms)
	case []*ast.Term:
		for _, term := range terms[1:] {
			walk(term)
		}
	case *ast.SomeDecl:
		if call := called(expr); call != nil {
			walk(call[len(call)-1])
		}
	}
	return values
}

// isFunction reports whether a name is that of a function of the policies.
func (t teller) isFunction(module *ast.Module, name *ast.Term) bool {
	full := resolved(module, plain(name))
	if !full.HasPrefix(ast.DefaultRootRef) {
		full = t.rule.pkg.Append(ast.StringTerm(full[0].String()))
	}
	return len(t.all.policies.compiler.GetRules(full)) > 0
}

// value evaluates a name or a call. ok is false where it has a variable that is not bound.
func (t teller) value(module *ast.Module, term *ast.Term, bound map[ast.Var]*ast.Term) (v Value, ok bool) {
	result := ast.VarTerm("value of the term")
	var body ast.Body
	for name, value := range bound {
		body.Append(ast.Equality.Expr(ast.NewTerm(name), value))
	}
	body.Append(ast.Equality.Expr(result, term.Copy()))
	all := ast.ArrayComprehensionTerm(result, body)
	imports, pkg := opa.ParsedImports(module.Imports), opa.ParsedPackage(module.Package)
	query, err := t.all.prepare(t.ctx, all, imports, pkg)
	if err != nil {
		return Value{}, false // the compiler refuses variables that nothing binds
	}
	found, err := t.all.eval(t.ctx, &query, t.input)
	if err != nil {
		return Value{}, false
	}
	list, ok := found.Value.(*ast.Array)
	if !ok || list.Len() > 1 {
		return Value{}, false
	}
	if list.Len() == 0 {
		return Value{Undefined: true}, true
	}
	for _, part := range []string{"commands", "paths"} {
		if all, err := t.input.Find(ast.Ref{ast.StringTerm(part)}); err == nil {
			for i := range all.(*ast.Array).Len() {
				if all.(*ast.Array).Elem(i).Equal(list.Elem(0)) {
					return Value{Same: fmt.Sprintf("input.%s[%d]", part, i)}, true
				}
			}
		}
	}
	v.Value, err = ast.JSON(list.Elem(0).Value)
	return v, err == nil
}

// attempts traces the evaluation of one rule: how far each evaluation of a definition in its package came.
type attempts struct {
	rule    *rule
	names   map[ast.Var]ast.Var // of the variables that the compiler renamed
	parents map[uint64]uint64   // of all queries
	open    map[uint64]*attempt // by query
	all     []*attempt          // in the order in which they began
	first   map[*ast.Rule]*attempt
}

// attempt is one evaluation of a definition.
type attempt struct {
	rule   *ast.Rule
	query  uint64
	places map[*ast.Expr]int // its expressions, in the order of evaluation
	began  []int             // of each expression: how many attempts there were before it was last evaluated
	held   bool
	failed failure
}

// failure is the first failed expression among those that came furthest.
type failure struct {
	index, count int // count is how many came as far
	at           *ast.Location
	bound        map[ast.Var]*ast.Term // the variables that had a value, by their names in the file
	below        []*attempt            // of helpers
}

func newAttempts(r *rule, names map[ast.Var]ast.Var) *attempts {
	t := &attempts{rule: r, names: names, parents: map[uint64]uint64{}}
	t.open, t.first = map[uint64]*attempt{}, map[*ast.Rule]*attempt{}
	return t
}

// Enabled is true.
func (*attempts) Enabled() bool { return true }

// Config asks for no variables: those of failed expressions are looked up as they are needed.
func (*attempts) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// TraceEvent notes an event.
func (t *attempts) TraceEvent(event topdown.Event) {
	switch node := event.Node.(type) {
	case *ast.Rule:
		switch event.Op {
		case topdown.EnterOp:
			t.parents[event.QueryID] = event.ParentID
			t.enter(node, event.QueryID)
		case topdown.ExitOp:
			if a := t.open[event.QueryID]; a != nil {
				a.held = true
			}
		}
	case ast.Body:
		if event.Op == topdown.EnterOp {
			t.parents[event.QueryID] = event.ParentID
		}
	case *ast.Expr:
		a := t.open[event.QueryID]
		if a == nil {
			if event.Op == topdown.EnterOp {
				t.parents[event.QueryID] = event.ParentID
			}
			return
		}
		i, own := a.places[node]
		switch {
		case !own:
		case event.Op == topdown.EvalOp:
			a.began[i] = len(t.all)
		case event.Op == topdown.FailOp:
			t.fail(a, i, event)
		}
	}
}

func (t *attempts) enter(definition *ast.Rule, query uint64) {
	if !definition.Module.Package.Path.Equal(t.rule.pkg) {
		return
	}
	a := &attempt{rule: definition, query: query}
	a.places, a.began = map[*ast.Expr]int{}, make([]int, len(definition.Body))
	for i, expr := range definition.Body {
		a.places[expr] = i
	}
	t.open[query] = a
	t.all = append(t.all, a)
	if t.first[definition] == nil {
		t.first[definition] = a
	}
}

func (t *attempts) fail(a *attempt, i int, event topdown.Event) {
	switch f := &a.failed; {
	case f.count > 0 && i < f.index:
	case f.count > 0 && i == f.index:
		f.count++
	default:
		*f = failure{index: i, count: 1, at: event.Location, bound: map[ast.Var]*ast.Term{}}
		f.below = t.below(a.query, a.began[i])
		ast.WalkVars(a.rule, func(v ast.Var) bool {
			if value := event.Plug(ast.NewTerm(v)); value.IsGround() {
				name := v
				if was, renamed := t.names[v]; renamed {
					name = was
				}
				f.bound[name] = value
			}
			return false
		})
	}
	t.all = t.all[:a.began[i]] // later ones need not look through these
}

// below are the attempts since a moment that a query began itself, not one of its helpers.
func (t *attempts) below(query uint64, since int) []*attempt {
	var own []*attempt
	for _, a := range t.all[since:] {
		parent := t.parents[a.query]
		for parent != query && parent != 0 && t.open[parent] == nil {
			parent = t.parents[parent]
		}
		if parent == query {
			own = append(own, a)
		}
	}
	return own
}

// of are the attempts at the definitions of a set.
func (t *attempts) of(name string) []*attempt {
	var found []*attempt
	for _, a := range t.first {
		if ruleName(a.rule) == name {
			found = append(found, a)
		}
	}
	return found
}
