// Package rego judges inputs by Rego policies: the embedded bundle and the operator's own.
//
// It is the only package that imports OPA. It compiles the policies once, strictly and with a
// set of builtins that can neither reach the network nor see the clock, and evaluates one
// entrypoint, data.sallyport.main.decision. The result is decoded strictly and
// joined here with the rules' metadata.
//
// It judges nothing itself. Every result that is no sound decision is an error, and
// callers refuse on errors: an undefined or misshapen result, a rule that was loaded and not
// evaluated, a builtin that failed, a panic, a deadline.
package rego

import (
	"context"
	"io/fs"
	"maps"
	"runtime"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/compiled"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// DefaultTimeout bounds one evaluation where Options name no other.
const DefaultTimeout = compiled.DefaultTimeout

// Options configure an Evaluator.
type Options struct {
	Bundle   fs.FS             // the built-in policies, as policies.FS returns them
	Tested   bool              // a test has loaded Bundle without this: where nothing is Custom, mistakes are not looked for anew
	Revision string            // name of the bundle in decisions
	Custom   []string          // directories, bundles and addresses of bundles with policies of the operator, packages below custom
	Texts    map[string][]byte // the bundles of those that are addresses: fetching is not for this package
	Keys     [][]byte          // public keys in PEM, one of which must have signed each bundle; nil for bundles that are not signed
	Serials  Serials           // which signed bundles judged before: an older one stays out
	Config   Config            // becomes data.sallyport.config
	Timeout  time.Duration     // for one evaluation; 0 means DefaultTimeout
	Compiled *Compiled         // Bundle in the form for WebAssembly; nil: topdown judges all
	Checked  string            // directory of its owner alone, in which policies without mistakes are noted
	Aside    string            // why Compiled is nil where it was wanted, for people

	bounds    bounds
	unindexed bool // every rule is asked about every input
}

type (
	// Config is the document data.sallyport.config.
	Config = compiled.Config
	// Filters counts the operator's patterns.
	Filters = compiled.Filters
	// Exemption names a rule and the commands that are exempt from it.
	Exemption = compiled.Exemption
	// Compiled is the built-in bundle in the form for WebAssembly.
	Compiled = compiled.Bundle
	// Machine runs a compiled bundle.
	Machine = compiled.Machine
)

// ErrOtherBundle is wrapped by the error for a Compiled that was made of other policies than Options.Bundle.
var ErrOtherBundle = compiled.ErrOtherBundle

// Evaluator judges inputs by one set of policies. It is safe for concurrent use.
//
// Where Options give it their Compiled form, the built-in rules are judged by that and only those of
// the operator by topdown, which then has no part in a decision without any. Their findings are one decision:
// rules do not know of each other, so that it is the same as if one had found it.
type Evaluator struct {
	policies  *ruleSet
	info      engine.PolicyInfo
	serials   Serials
	machine   *compiled.Rules              // nil: topdown judges all
	topdown   *interpreter                 // of all policies; nil: beside a machine
	own       func() (*interpreter, error) // what is left for topdown; nil: nothing
	all       func() (*interpreter, error)
	reference func() (*Evaluator, error)
	aside     string

	looked sync.Once // at the rules of the operator, for steady
	steady bool
}

// New loads and compiles policies. Everything that is wrong with them comes back in one *LoadError.
func New(ctx context.Context, opts Options) (*Evaluator, error) {
	loaded, err := load(opts)
	if err != nil {
		return nil, err
	}
	e := &Evaluator{policies: loaded, info: engine.PolicyInfo{Revision: opts.Revision,
		Bundles: loaded.revisions}, serials: opts.Serials, aside: opts.Aside}
	e.reference = sync.OnceValues(func() (*Evaluator, error) {
		whole, err := loaded.whole(true)
		if err != nil {
			return nil, err
		}
		all, err := newInterpreter(context.WithoutCancel(ctx), whole, opts)
		if err != nil {
			return nil, err
		}
		get := func() (*interpreter, error) { return all, nil }
		return &Evaluator{
			policies: whole, info: e.info, topdown: all, all: get, own: get, reference: e.reference,
		}, nil
	})
	if opts.Compiled == nil {
		if e.topdown, err = newInterpreter(ctx, loaded, opts); err != nil {
			return nil, err
		}
		e.all = func() (*interpreter, error) { return e.topdown, nil }
		e.own = e.all
		return e, nil
	}
	if e.machine, err = loaded.start(ctx, opts.Compiled); err != nil {
		return nil, err
	}
	if loaded.compile != nil {
		e.own = sync.OnceValues(func() (*interpreter, error) {
			if err := loaded.compile(); err != nil {
				return nil, err
			}
			return newInterpreter(context.WithoutCancel(ctx), loaded, opts)
		})
		if loaded.compiler != nil {
			if _, err := e.own(); err != nil {
				return nil, err
			}
		}
	}
	e.all = sync.OnceValues(func() (*interpreter, error) {
		whole, err := loaded.whole(false)
		if err != nil {
			return nil, err
		}
		return newInterpreter(context.WithoutCancel(ctx), whole, opts)
	})
	runtime.AddCleanup(e, func(m Machine) { _ = m.Close() }, e.machine.Machine) // nobody is left to hear of it
	return e, nil
}

// Policy names the evaluator's policies.
func (e *Evaluator) Policy() engine.PolicyInfo {
	return engine.PolicyInfo{Revision: e.info.Revision, Bundles: maps.Clone(e.info.Bundles)}
}

// Accept remembers that the evaluator judges in earnest: signed bundles that are older than those it has
// stay out from then on.
func (e *Evaluator) Accept() error { return e.serials.Accept(e.policies.serials) }

// By names the evaluator of the built-in rules, for people, and the reason if it is not the configured one;
// else "".
func (e *Evaluator) By() (what, aside string) {
	if e.machine == nil {
		return "topdown", e.aside
	}
	if k, ok := e.machine.Machine.(interface{ Kept() string }); ok {
		return "wasm; native code kept in " + k.Kept(), ""
	}
	return "wasm", ""
}

// Reference is an evaluator of the same policies for comparison: it judges all by topdown, and asks every
// rule about every input.
func (e *Evaluator) Reference() (*Evaluator, error) { return e.reference() }

// Registry is the text of the Rego module that stock OPA needs, besides the files of the bundle and
// of custom directories, to decide as the evaluator does: it lists the rules, their levels and when
// they are asked. The decision is data.sallyport.main.decision. A Config with filters or exemptions
// must then be given as data.sallyport.config, in place of the bundle's.
func (e *Evaluator) Registry() (string, error) {
	all, err := e.all()
	if err != nil {
		return "", err
	}
	return all.policies.registry, nil
}

// Evaluate judges in. It neither keeps nor changes it. A sound decision is a Judgement; all else
// is an error.
func (e *Evaluator) Evaluate(ctx context.Context, in *facts.Input) (engine.Judgement, error) {
	if err := compiled.Known(in); err != nil {
		return engine.Judgement{}, err
	}
	d := decision{Effect: engine.Allow}
	var spent []engine.Spent
	if e.machine != nil {
		begin := time.Now()
		found, err := e.machine.Decide(ctx, in)
		if err != nil {
			return engine.Judgement{}, err
		}
		d.Add(found)
		spent = append(spent, engine.Spent{By: "wasm", Time: time.Since(begin)})
	}
	if e.own != nil && e.policies.concerns(in) {
		begin := time.Now()
		topdown, err := e.own()
		if err != nil {
			return engine.Judgement{}, err
		}
		found, err := topdown.decide(ctx, in)
		if err != nil {
			return engine.Judgement{}, err
		}
		d.Add(found)
		spent = append(spent, engine.Spent{By: "topdown", Time: time.Since(begin)})
	}
	j, err := compiled.Join(in, d, e.rule)
	if err != nil {
		return engine.Judgement{}, err
	}
	begin := time.Now()
	if j.Exempted, err = compiled.Exempted(ctx, in, e.found, e.rule); err != nil {
		return engine.Judgement{}, err
	}
	if len(j.Exempted) > 0 {
		spent = append(spent, engine.Spent{By: "exemptions", Time: time.Since(begin)})
	}
	j.Spent = spent
	return j, nil
}

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
		if readsField(module, full) {
			return true, nil
		}
	}
	return false, nil
}

// readsField reports whether a module may read a field of the input, or a value that contains it.
func readsField(module *ast.Module, field ast.Ref) (found bool) {
	ast.WalkRefs(module, func(ref ast.Ref) bool {
		found = found || reaches(ref, field)
		return found
	})
	ast.WalkTerms(module, func(t *ast.Term) bool {
		if v, ok := t.Value.(ast.Var); ok && v.Equal(ast.InputRootDocument.Value) {
			found = true
		}
		_, isRef := t.Value.(ast.Ref)
		return found || isRef // the head of a ref is no use of its own
	})
	return found
}

// passing are the parts of an input that differ between two otherwise equal requests, and the built-in
// packages that read them.
var passing = []string{"input.request.id", "input.request.time", "input.session", "data.sallyport.session"}

// Steady reports whether no rule of the operator may read the parts in which two otherwise equal requests
// differ: the id, the time, and the session with the ages of its requests. Of these, built-in rules read
// only the approvals of the session (TestSteady).
func (e *Evaluator) Steady() bool {
	e.looked.Do(func() { e.steady = e.readsNothingPassing() })
	return e.steady
}

func (e *Evaluator) readsNothingPassing() bool {
	if e.own == nil {
		return true
	}
	own, err := e.own()
	if err != nil {
		return false
	}
	for _, module := range own.policies.compiler.Modules {
		path := module.Package.Path
		if len(path) < 2 || !path[1].Equal(ast.StringTerm("custom")) {
			continue
		}
		for _, p := range passing {
			if field := ast.MustParseRef(p); readsField(module, field) {
				return false
			}
		}
	}
	return true
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
