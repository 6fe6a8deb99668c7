package rego

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	memory "runtime/metrics"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	opa "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown/cache"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// interpreter is OPA's topdown, ready to evaluate a set of rules: the reference for their meaning.
type interpreter struct {
	policies *ruleSet
	timeout  time.Duration
	bounds   bounds
	encode   encoder
	workers  *workers
	patterns cache.InterQueryValueCache // compiled patterns of custom rules, across evaluations
	store    storage.Store

	decision, explanation opa.PreparedEvalQuery
}

// bounds end an evaluation that does not end by itself. Tests put events in their place.
type bounds struct {
	limit func(context.Context, time.Duration) (context.Context, context.CancelFunc) // nil: context.WithTimeout
	heap  func() uint64                                                              // nil: heap
}

// compiledPatterns bounds the number of values (compiled regular expressions and globs) that
// custom rules keep between evaluations. OPA's own cache holds 100 and then evicts at random.
const compiledPatterns = 4096

func newInterpreter(ctx context.Context, loaded *ruleSet, opts Options) (*interpreter, error) {
	encode, err := encoderOf[facts.Input]()
	if err != nil {
		return nil, err
	}
	e := &interpreter{policies: loaded, timeout: opts.Timeout, bounds: opts.bounds, encode: encode,
		workers: newWorkers()}
	runtime.AddCleanup(e, (*workers).stop, e.workers)
	if e.timeout <= 0 {
		e.timeout = DefaultTimeout
	}
	if e.bounds.limit == nil {
		e.bounds.limit = context.WithTimeout
	}
	if e.bounds.heap == nil {
		e.bounds.heap = heap
	}
	limit := compiledPatterns
	e.patterns = cache.NewInterQueryValueCache(ctx, &cache.Config{
		InterQueryBuiltinValueCache: cache.InterQueryBuiltinValueCacheConfig{MaxNumEntries: &limit},
	})
	e.store = inmem.NewFromObjectWithOpts(loaded.data, inmem.OptRoundTripOnWrite(false),
		inmem.OptReturnASTValuesOnRead(true))
	for name, query := range map[string]*opa.PreparedEvalQuery{
		"decision": &e.decision, "explanation": &e.explanation,
	} {
		if *query, err = e.prepare(ctx, ast.NewTerm(entrypoint.Append(ast.StringTerm(name)))); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// prepare makes a term, such as a place in data, ready to be evaluated.
func (e *interpreter) prepare(
	ctx context.Context, term *ast.Term, more ...func(*opa.Rego),
) (opa.PreparedEvalQuery, error) {
	query, err := opa.New(append(more,
		opa.ParsedQuery(ast.NewBody(ast.NewExpr(term))),
		opa.Compiler(e.policies.compiler),
		opa.Store(e.store),
		opa.StrictBuiltinErrors(true),
		opa.Metrics(metrics.NoOp()),
		opa.GenerateJSON(func(t *ast.Term, _ *opa.EvalContext) (any, error) { return t, nil }),
	)...).PrepareForEval(ctx)
	if err != nil {
		return opa.PreparedEvalQuery{}, fmt.Errorf("prepare policies: %w", err)
	}
	return query, nil
}

var entrypoint = ast.MustParseRef("data.sallyport.main")

// decide evaluates the decision.
func (e *interpreter) decide(ctx context.Context, in *facts.Input) (decision, error) {
	return e.judge(ctx, e.encode.value(in))
}

// judge decides about an encoded input.
func (e *interpreter) judge(ctx context.Context, input ast.Value) (decision, error) {
	result, err := e.eval(ctx, &e.decision, input)
	if err != nil {
		return decision{}, e.blame(ctx, input, err)
	}
	d, err := decodeDecision(result, e.policies.digest)
	if err != nil {
		return decision{}, fmt.Errorf("read decision: %w", err)
	}
	return d, nil
}

// eval runs one query under the deadline. The evaluation runs beside its caller, because a
// single builtin call does not heed the deadline and the caller must have its answer.
func (e *interpreter) eval(
	ctx context.Context, query *opa.PreparedEvalQuery, input ast.Value, more ...opa.EvalOption,
) (*ast.Term, error) {
	ctx, cancel := e.bounds.limit(ctx, e.timeout)
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
		o.term, o.err = e.run(ctx, query, input, more)
	})
	look := time.NewTimer(memoryPause)
	defer look.Stop()
	var before uint64
	for {
		select {
		case o := <-done:
			return o.term, o.err
		case <-ctx.Done():
			return nil, fmt.Errorf("evaluate policies: %w after at most %v", ctx.Err(), e.timeout)
		case <-look.C:
			now := e.bounds.heap()
			if before == 0 {
				before = now
			} else if now > before+maxGrowth {
				return nil, fmt.Errorf(
					"evaluate policies: %w: more than %d MiB were taken meanwhile: a rule builds something very large",
					errMemory, maxGrowth>>20)
			}
			look.Reset(memoryPause)
		}
	}
}

// An evaluation that lasts is looked at every memoryPause. One during which memory grows by more than
// maxGrowth is ended, as far as that goes: between two builtin calls. Nearly all are over before the first
// look.
const (
	memoryPause = 10 * time.Millisecond
	maxGrowth   = 256 << 20
)

// heap is the memory in use by the whole process, uncollected garbage included.
func heap() uint64 {
	sample := []memory.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	memory.Read(sample)
	if sample[0].Value.Kind() != memory.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}

func (e *interpreter) run(
	ctx context.Context, query *opa.PreparedEvalQuery, input ast.Value, more []opa.EvalOption,
) (*ast.Term, error) {
	options := append(more, opa.EvalParsedInput(input), opa.EvalInterQueryBuiltinValueCache(e.patterns))
	results, err := query.Eval(ctx, options...)
	// An answer that came too late may have missed a cancelled part, and OPA's error would not say that it
	// was late.
	if ctx.Err() != nil {
		return nil, fmt.Errorf("evaluate policies: %w after at most %v", ctx.Err(), e.timeout)
	}
	if err != nil {
		return nil, fmt.Errorf("evaluate policies: %w", err)
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

// workers run evaluations on goroutines that stay. An evaluation needs a deep stack, and growing
// one anew for each request takes a third of a small request's time (measured: 1.0 ms against 0.65).
// One that never returns keeps its goroutine, and the next gets another.
type workers struct {
	idle chan chan func()
}

func newWorkers() *workers {
	return &workers{idle: make(chan chan func(), runtime.GOMAXPROCS(0))}
}

// do runs f beside the caller and returns at once.
func (w *workers) do(f func()) {
	select {
	case jobs := <-w.idle:
		jobs <- f
	default:
		go w.work(f)
	}
}

func (w *workers) work(first func()) {
	jobs := make(chan func(), 1)
	jobs <- first
	for f := range jobs { // nothing holds its variables while there is no work
		f()
		select {
		case w.idle <- jobs:
		default:
			return
		}
	}
}

// stop ends the workers that are idle.
func (w *workers) stop() {
	for {
		select {
		case jobs := <-w.idle:
			close(jobs)
		default:
			return
		}
	}
}

// errMemory ends an evaluation that takes too much of it.
var errMemory = errors.New("too much memory")

// The search for the rule that cost an evaluation its time: how long one rule may take, and all of it.
const (
	blameRule = 250 * time.Millisecond
	blameAll  = time.Second
)

// blame adds to an evaluation that took too long, or too much memory, which rule of the operator's did. OPA
// does not tell where it was when it was stopped; so each is asked alone, for a short time, after the
// decision is lost anyway.
func (e *interpreter) blame(ctx context.Context, input ast.Value, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, errMemory) ||
		errors.Is(ctx.Err(), context.Canceled) {
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
