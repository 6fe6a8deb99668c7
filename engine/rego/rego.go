// Package rego judges inputs by Rego policies: the embedded bundle and the operator's own.
//
// It is the only package that imports OPA. It compiles the policies once, strictly and with a
// set of builtins that can neither reach the network nor see the clock, and evaluates one
// entrypoint, data.sallyport.main.decision. What that returns is decoded without leniency and
// joined here with the rules' metadata.
//
// It judges nothing itself. Whatever it cannot take as a sound decision is an error, and
// callers refuse on errors: an undefined or misshapen result, a rule that was loaded and not
// evaluated, a builtin that failed, a panic, a deadline.
package rego

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"runtime"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	opa "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown/cache"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// DefaultTimeout bounds one evaluation where Options name no other.
const DefaultTimeout = 5 * time.Second

// Options say what an Evaluator judges by.
type Options struct {
	Bundle   fs.FS         // the built-in policies, as policies.FS returns them
	Tested   bool          // a test has loaded Bundle without this: where nothing is Custom, mistakes are not looked for anew
	Revision string        // what the bundle is called in decisions
	Custom   []string      // directories and bundles with policies of the operator, packages below custom
	Keys     [][]byte      // public keys in PEM, one of which must have signed each bundle; nil for bundles that are not signed
	Config   Config        // becomes data.sallyport.config
	Timeout  time.Duration // for one evaluation; 0 means DefaultTimeout
}

// Config is the document data.sallyport.config. Its zero value stands for the profile "standard".
type Config struct {
	Profile    string            `json:"profile"`
	Workspace  string            `json:"workspace"` // its real path; "" where there is none
	Levels     map[string]string `json:"levels"`    // rule id to off, warn, ask, deny or own
	Filters    Filters           `json:"filters"`
	Exemptions []Exemption       `json:"exemptions"` // in the order of facts.Layout.Exemptions
}

// Filters counts the operator's patterns, which are matched before policies see the input.
type Filters struct {
	Allow int `json:"allow"`
	Deny  int `json:"deny"`
}

// Exemption names the rule from which the commands that match it are exempt.
type Exemption struct {
	Rule string `json:"rule"`
}

// Evaluator judges inputs by one set of policies. It is safe for concurrent use.
type Evaluator struct {
	policies *ruleSet
	info     engine.PolicyInfo
	timeout  time.Duration
	encode   encoder
	workers  *workers
	patterns cache.InterQueryValueCache // compiled patterns of custom rules, across evaluations

	decision, explanation opa.PreparedEvalQuery
}

// compiledPatterns bounds the number of values (compiled regular expressions and globs) that
// custom rules keep between evaluations. OPA's own cache holds 100 and then evicts at random.
const compiledPatterns = 4096

// New loads and compiles policies. Everything that is wrong with them comes back in one *LoadError.
func New(ctx context.Context, opts Options) (*Evaluator, error) {
	loaded, err := load(opts)
	if err != nil {
		return nil, err
	}
	encode, err := encoderOf[facts.Input]()
	if err != nil {
		return nil, err
	}
	e := &Evaluator{
		policies: loaded,
		info:     engine.PolicyInfo{Revision: opts.Revision, Bundles: loaded.revisions},
		timeout:  opts.Timeout,
		encode:   encode,
		workers:  newWorkers(),
	}
	runtime.AddCleanup(e, (*workers).stop, e.workers)
	if e.timeout <= 0 {
		e.timeout = DefaultTimeout
	}
	limit := compiledPatterns
	e.patterns = cache.NewInterQueryValueCache(ctx, &cache.Config{
		InterQueryBuiltinValueCache: cache.InterQueryBuiltinValueCacheConfig{MaxNumEntries: &limit},
	})
	store := inmem.NewFromObjectWithOpts(loaded.data, inmem.OptRoundTripOnWrite(false), inmem.OptReturnASTValuesOnRead(true))
	for name, query := range map[string]*opa.PreparedEvalQuery{
		"decision": &e.decision, "explanation": &e.explanation,
	} {
		*query, err = opa.New(
			opa.ParsedQuery(ast.NewBody(ast.NewExpr(ast.NewTerm(entrypoint.Append(ast.StringTerm(name)))))),
			opa.Compiler(loaded.compiler),
			opa.Store(store),
			opa.StrictBuiltinErrors(true),
			opa.Metrics(metrics.NoOp()),
			opa.GenerateJSON(func(t *ast.Term, _ *opa.EvalContext) (any, error) { return t, nil }),
		).PrepareForEval(ctx)
		if err != nil {
			return nil, fmt.Errorf("prepare policies: %w", err)
		}
	}
	return e, nil
}

var entrypoint = ast.MustParseRef("data.sallyport.main")

// Policy names what the evaluator judges by.
func (e *Evaluator) Policy() engine.PolicyInfo {
	return engine.PolicyInfo{Revision: e.info.Revision, Bundles: maps.Clone(e.info.Bundles)}
}

// Registry is the text of the Rego module that stock OPA needs, besides the files of the bundle and
// of custom directories, to decide as the evaluator does: it lists the rules, their levels and when
// they are asked. The decision is data.sallyport.main.decision. A Config with filters or exemptions
// must then be given as data.sallyport.config, in place of the bundle's.
func (e *Evaluator) Registry() string { return e.policies.registry }

// Evaluate judges in. It neither keeps nor changes it. A sound decision is a Judgement; all else
// is an error.
func (e *Evaluator) Evaluate(ctx context.Context, in *facts.Input) (engine.Judgement, error) {
	value, err := e.input(in)
	if err != nil {
		return engine.Judgement{}, err
	}
	return e.judge(ctx, in, value)
}

func (e *Evaluator) input(in *facts.Input) (ast.Value, error) {
	if in == nil {
		return nil, errors.New("evaluate policies: there is no input")
	}
	if in.Version != facts.Version {
		return nil, fmt.Errorf("evaluate policies: the input has version %d, the policies read version %d", in.Version, facts.Version)
	}
	return e.encode.value(in), nil
}

// judge evaluates value, the encoded form of in.
func (e *Evaluator) judge(ctx context.Context, in *facts.Input, value ast.Value) (engine.Judgement, error) {
	result, err := e.eval(ctx, &e.decision, value)
	if err != nil {
		return engine.Judgement{}, err
	}
	d, err := decodeDecision(result, e.policies.ids)
	if err != nil {
		return engine.Judgement{}, fmt.Errorf("read decision: %w", err)
	}
	return e.join(in, d)
}

// eval runs one query under the deadline. The evaluation runs beside its caller, because a
// single builtin call does not heed the deadline and the caller must have its answer.
func (e *Evaluator) eval(ctx context.Context, query *opa.PreparedEvalQuery, input ast.Value) (*ast.Term, error) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	type outcome struct {
		term *ast.Term
		err  error
	}
	done := make(chan outcome, 1)
	e.workers.do(func() {
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				o = outcome{err: fmt.Errorf("evaluate policies: panic: %v", p)}
			}
			done <- o
		}()
		o.term, o.err = e.run(ctx, query, input)
	})
	select {
	case o := <-done:
		return o.term, o.err
	case <-ctx.Done():
		return nil, fmt.Errorf("evaluate policies: %w after at most %v", ctx.Err(), e.timeout)
	}
}

func (e *Evaluator) run(ctx context.Context, query *opa.PreparedEvalQuery, input ast.Value) (*ast.Term, error) {
	results, err := query.Eval(ctx, opa.EvalParsedInput(input), opa.EvalInterQueryBuiltinValueCache(e.patterns))
	if err != nil {
		return nil, fmt.Errorf("evaluate policies: %w", err)
	}
	if ctx.Err() != nil { // an answer that came too late may have missed a cancelled part
		return nil, fmt.Errorf("evaluate policies: %w", ctx.Err())
	}
	if len(results) != 1 || len(results[0].Expressions) != 1 {
		return nil, errors.New("evaluate policies: the decision is undefined")
	}
	term, ok := results[0].Expressions[0].Value.(*ast.Term)
	if !ok || term == nil {
		return nil, errors.New("evaluate policies: the decision has no value")
	}
	return term, nil
}
