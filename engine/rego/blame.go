package rego

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
)

// errMemory ends an evaluation that takes too much of it.
var errMemory = errors.New("too much memory")

// The search for the rule that cost an evaluation its time: how long one rule may take, and all of it.
const (
	blameRule = 250 * time.Millisecond
	blameAll  = time.Second
)

// blame adds to an evaluation that took too long, or too much memory, which rule of the operator's did. OPA does not tell
// where it was when it was stopped; so each is asked alone, for a short time, after the decision is lost anyway.
func (e *interpreter) blame(ctx context.Context, input ast.Value, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, errMemory) || errors.Is(ctx.Err(), context.Canceled) {
		return err
	}
	ctx, cancel := e.bounds.limit(context.WithoutCancel(ctx), blameAll)
	defer cancel()
	for _, r := range e.policies.rules {
		if !r.custom() || r.off() {
			continue
		}
		for _, verb := range verbs {
			set := ast.NewTerm(r.pkg.Append(ast.StringTerm(string(verb))))
			if at, ok := r.defined[verb]; ok && e.endless(ctx, set, input) {
				return fmt.Errorf("%s:%d: rule %s: %w", at.File, at.Row, r.id, err)
			}
		}
		if ctx.Err() != nil {
			break
		}
	}
	return err
}

// endless reports whether a set does not come to an end in a short time.
func (e *interpreter) endless(ctx context.Context, set *ast.Term, input ast.Value) bool {
	query, err := e.prepare(ctx, set)
	if err != nil {
		return false
	}
	ctx, cancel := e.bounds.limit(ctx, blameRule)
	defer cancel()
	_, err = e.eval(ctx, &query, input)
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errMemory)
}
