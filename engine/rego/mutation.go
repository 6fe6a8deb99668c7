package rego

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/compiled"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Mutation tries mutants of the built-in policies on inputs that the unchanged policies have judged. For each
// mutant it compiles the modules that the changed one needs, and evaluates the rules that need the changed
// one; the findings of all others are those of the recorded judgement. It is safe for concurrent use.
type Mutation struct {
	set    *fileSet // of all modules, with tests
	rules  []*rule
	encode encoder
	reach  map[string]map[string]bool // of each package, the packages that it needs
}

// Recorded is an input with the judgement of the unchanged policies.
type Recorded struct {
	input   ast.Value
	config  string         // encoded, as a key
	data    map[string]any // of the configuration, with the levels of rules
	reasons []engine.Reason
}

const mainPackage = "data.sallyport.main"

// ErrMutantInvalid is wrapped by the error for a mutant that does not compile.
var ErrMutantInvalid = errors.New("the mutant does not compile")

// NewMutation reads the built-in policies with their tests, as they lie in the source directory.
func NewMutation(builtin fs.FS) (*Mutation, error) {
	m := &Mutation{set: &fileSet{}}
	m.set.read(builtin, "", false, isRego)
	m.set.parse()
	m.rules = m.set.check()
	if err := m.set.err(); err != nil {
		return nil, err
	}
	m.reach = m.set.reach()
	var err error
	m.encode, err = encoderOf[facts.Input]()
	return m, err
}

// Mutants are the changes of all modules but those of tests, in the order of files and rows.
func (m *Mutation) Mutants() []Mutant {
	var found []Mutant
	for _, src := range m.set.sources {
		if !src.test() && !strings.Contains(src.name, "/testing/") {
			found = append(found, src.mutants()...)
		}
	}
	return found
}

// Record prepares an input to be judged by mutants. The judgement is that of the unchanged policies under the
// same configuration.
func (m *Mutation) Record(c Config, in *facts.Input, j engine.Judgement) (*Recorded, error) {
	key, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("record input: %w", err)
	}
	documents := &fileSet{documents: m.set.documents}
	p := &ruleSet{byID: map[string]*rule{}}
	if p.data, err = documents.data(c); err != nil {
		return nil, fmt.Errorf("record input: %w", err)
	}
	levels := map[string]any{}
	for _, r := range m.rules {
		own := *r
		p.rules, p.byID[r.id] = append(p.rules, &own), &own
	}
	documents.checkConfig(c, p)
	if err := documents.err(); err != nil {
		return nil, fmt.Errorf("record input: %w", err)
	}
	for _, r := range p.rules {
		levels[r.id] = r.setting.Level
	}
	within := p.data["sallyport"].(map[string]any)
	within["levels"], within["optional"] = levels, []any{}
	return &Recorded{input: m.encode.value(in), config: string(key), data: p.data, reasons: j.Reasons}, nil
}

// Names reports whether a rule is among the reasons of the recorded judgement.
func (r *Recorded) Names(rules map[string]bool) bool {
	return slices.ContainsFunc(r.reasons, func(f engine.Reason) bool { return rules[f.Rule] })
}

// Mutated are the policies with one place changed. It is for one goroutine.
type Mutated struct {
	Rules    map[string]bool // ids of the rules that need the changed module
	from     *Mutation
	changed  *source
	compiler *ast.Compiler
	digest   string
	made     map[string]*interpreter
}

// Change compiles a mutant. The error for one that does not compile wraps ErrMutantInvalid.
func (m *Mutation) Change(mutant Mutant) (*Mutated, error) {
	at := slices.IndexFunc(m.set.sources, func(s *source) bool { return s.name == mutant.File })
	if at < 0 {
		return nil, fmt.Errorf("change %s: there is no such module", mutant.File)
	}
	was := m.set.sources[at]
	changed := &source{name: was.name, text: mutant.in(was.text)}
	set := &fileSet{sources: []*source{changed}}
	set.parse()
	if err := set.err(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMutantInvalid, err)
	}
	c := &Mutated{from: m, changed: changed, Rules: map[string]bool{}, made: map[string]*interpreter{}}
	pkg := was.module.Package.Path.String()
	var rules []*rule
	var ids []string
	packages := []string{mainPackage}
	for _, r := range m.rules {
		if m.reach[r.pkg.String()][pkg] || pkg == mainPackage {
			own := *r
			own.setting.Level = "own" // levels are in the data
			rules, ids, packages = append(rules, &own), append(ids, r.id), append(packages, r.pkg.String())
			c.Rules[r.id] = true
		}
	}
	c.digest = compiled.DigestOf(ids)
	set.sources = m.needed(packages, changed)
	modules, err := set.modules(writeRegistry(rules, unconditional, true))
	if err != nil {
		return nil, err
	}
	c.compiler = lenient()
	if c.compiler.Compile(modules); c.compiler.Failed() {
		return nil, fmt.Errorf("%w: %w", ErrMutantInvalid, c.compiler.Errors)
	}
	return c, nil
}

// reach finds, for each package, those to which it refers, be it by way of others, and itself.
func (s *fileSet) reach() map[string]map[string]bool {
	direct := map[string]map[string]bool{}
	for _, src := range s.sources {
		pkg := src.module.Package.Path.String()
		if direct[pkg] == nil {
			direct[pkg] = map[string]bool{pkg: true}
		}
		ast.WalkRefs(src.module, func(ref ast.Ref) bool {
			for _, other := range s.sources {
				if ref.HasPrefix(other.module.Package.Path) {
					direct[pkg][other.module.Package.Path.String()] = true
				}
			}
			return false
		})
	}
	for grown := true; grown; {
		grown = false
		for _, all := range direct {
			before := len(all)
			for _, pkg := range slices.Collect(maps.Keys(all)) {
				maps.Copy(all, direct[pkg])
			}
			grown = grown || len(all) > before
		}
	}
	return direct
}

// Decide judges a recorded input. Of the reasons only the rules and effects are told. An error is that of an
// evaluation, which refuses the request.
func (c *Mutated) Decide(ctx context.Context, r *Recorded) (engine.Judgement, error) {
	in := c.made[r.config]
	if in == nil {
		var err error
		loaded := &ruleSet{compiler: c.compiler, data: r.data, digest: c.digest}
		if in, err = newInterpreter(ctx, loaded, Options{}); err != nil {
			return engine.Judgement{}, err
		}
		c.made[r.config] = in
	}
	d, err := in.judge(ctx, r.input)
	if err != nil {
		return engine.Judgement{}, err
	}
	j := engine.Judgement{Effect: d.Effect}
	for _, other := range r.reasons {
		if !c.Rules[other.Rule] {
			j.Reasons = append(j.Reasons, engine.Reason{Rule: other.Rule, Effect: other.Effect})
			if other.Effect == engine.Deny || other.Effect == engine.Ask && j.Effect == engine.Allow {
				j.Effect = other.Effect
			}
		}
	}
	for _, own := range d.Reasons {
		j.Reasons = append(j.Reasons, engine.Reason{Rule: own.Rule, Effect: own.Effect})
	}
	return j, nil
}

// Tests reports whether the unit tests in the directory of the changed module pass. Without tests they do.
func (c *Mutated) Tests(ctx context.Context) (passed bool, err error) {
	set := &fileSet{documents: c.from.set.documents}
	var packages []string
	for _, src := range c.from.set.sources {
		if src.test() && path.Dir(src.name) == path.Dir(c.changed.name) {
			packages = append(packages, src.module.Package.Path.String())
		}
	}
	if packages == nil {
		return true, nil
	}
	set.sources = c.from.needed(packages, c.changed)
	data, err := set.data(Config{})
	if err != nil {
		return false, err
	}
	report, err := set.runTests(ctx, lenient(), TestOptions{}, c.from.rules, data)
	var load *LoadError
	if errors.As(err, &load) { // no rule needs the module, so that Change has not compiled it
		return false, fmt.Errorf("%w: %w", ErrMutantInvalid, err)
	} else if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(report.Results, func(r TestResult) bool {
		return r.Outcome != TestPass && r.Outcome != TestSkip
	}), nil
}

// needed are the modules that packages need, with one changed.
func (m *Mutation) needed(packages []string, changed *source) []*source {
	var all []*source
	for _, src := range m.set.sources {
		pkg := src.module.Package.Path.String()
		switch {
		case !slices.ContainsFunc(packages, func(p string) bool { return m.reach[p][pkg] }):
		case src.name == changed.name:
			all = append(all, changed)
		default:
			all = append(all, src)
		}
	}
	return all
}

// lenient is a compiler without strictness: a variable that a mutant leaves unused is a mistake to people
// alone.
func lenient() *ast.Compiler {
	return ast.NewCompiler().WithCapabilities(capabilities()).WithSkipStages(onlyChecks...)
}
