package rego

import (
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

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
