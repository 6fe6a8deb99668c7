package rego

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
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

// Mutant is a change of one place in a policy file, of which some test should take notice.
type Mutant struct {
	File   string `json:"file"`
	Row    int    `json:"row"`
	Was    string `json:"was"`
	Is     string `json:"is"`
	offset int
}

// Mutants are changes of the policies in directories, at most n of them, as a seed chooses: conditions that
// are negated or left out, collections that are empty, and constants that are others. Tests stay as they are,
// and so do messages: texts of more than two words. Some mutants do not compile. They come in the order of
// files and rows, and all is how many there are to choose from.
func Mutants(dirs []string, n int, seed uint64) (chosen []Mutant, all int, err error) {
	set := &fileSet{}
	set.readCustom(dirs, isModule)
	set.parse()
	if err := set.err(); err != nil {
		return nil, 0, err
	}
	var found []Mutant
	for _, src := range set.sources {
		found = append(found, src.mutants()...)
	}
	dice := rand.New(rand.NewPCG(seed, 0))
	taken := dice.Perm(len(found))
	taken = taken[:min(n, len(taken))]
	slices.Sort(taken)
	for _, i := range taken {
		chosen = append(chosen, found[i])
	}
	return chosen, len(found), nil
}

// mutants are the changes of a file. A place that several rules share gives one.
func (s *source) mutants() []Mutant {
	var found []Mutant
	note := func(at *ast.Location, is string) {
		if at == nil || at.Offset+len(at.Text) > len(s.text) {
			return
		}
		was := s.text[at.Offset : at.Offset+len(at.Text)]
		m := Mutant{File: s.name, Row: at.Row, Was: was, Is: is, offset: at.Offset}
		if was == string(at.Text) && was != is && !slices.Contains(found, m) {
			found = append(found, m)
		}
	}
	constants := func(in any) {
		ast.WalkTerms(in, func(t *ast.Term) bool {
			if ref, ok := t.Value.(ast.Ref); ok {
				for _, part := range ref[1:] { // c["name"] is no constant of its own
					if _, text := part.Value.(ast.String); !text {
						ast.WalkTerms(part, func(t *ast.Term) bool { changed(t, note); return false })
					}
				}
				return true
			}
			changed(t, note)
			return false
		})
	}
	condition := func(e *ast.Expr) bool {
		text := strings.TrimSpace(string(e.Location.Text))
		if isDeclaration(e) {
			if call := called(e); len(call) > 2 {
				note(call[len(call)-1].Location, "[]") // some x in ref
			}
			return false
		}
		if e.IsAssignment() || text == "true" {
			return false
		}
		if e.Negated {
			note(e.Location, strings.TrimSpace(strings.TrimPrefix(text, "not")))
		} else {
			note(e.Location, "not "+text)
		}
		note(e.Location, "true")
		return false
	}
	for _, definition := range s.module.Rules {
		for d := definition; d != nil; d = d.Else {
			ast.WalkExprs(d.Body, condition)
			constants(d.Body)
			value := d.Head.Value
			if value == nil || d.Head.DocKind() == ast.PartialSetDoc {
				continue
			}
			ast.WalkExprs(value, condition)
			if d.Head.DocKind() == ast.CompleteDoc {
				constants(value)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Mutant) int { return a.offset - b.offset })
	return found
}

// changed notes another constant in the place of a constant.
func changed(t *ast.Term, note func(*ast.Location, string)) {
	if t.Location == nil {
		return
	}
	switch v := t.Value.(type) {
	case ast.String:
		message := len(strings.Fields(string(v))) > 2
		if text := string(t.Location.Text); strings.HasPrefix(text, `"`) && !message {
			note(t.Location, strconv.Quote(string(v)+"-mutant"))
		}
	case ast.Number:
		if n, ok := v.Int64(); ok {
			note(t.Location, strconv.FormatInt(n+1, 10))
		}
	case ast.Boolean:
		note(t.Location, strconv.FormatBool(!bool(v)))
	}
}

// String is a line about the mutant, for people.
func (m Mutant) String() string {
	short := func(text string) string {
		if text = strings.Join(strings.Fields(text), " "); len(text) > 80 {
			text = strings.ToValidUTF8(text[:80], "") + "…"
		}
		return text
	}
	return fmt.Sprintf("%s:%d: %s → %s", m.File, m.Row, short(m.Was), short(m.Is))
}

// Write makes the change in a copy of the file.
func (m Mutant) Write(file string) error {
	text, err := os.ReadFile(m.File)
	if err != nil {
		return fmt.Errorf("write mutant: %w", err)
	}
	if end := m.offset + len(m.Was); end > len(text) || string(text[m.offset:end]) != m.Was {
		return fmt.Errorf("write mutant: %s has changed meanwhile: start again", m.File)
	}
	if err := os.WriteFile(filepath.Clean(file), []byte(m.in(string(text))), 0o600); err != nil {
		return fmt.Errorf("write mutant: %w", err)
	}
	return nil
}

// in makes the change in the text of the file.
func (m Mutant) in(text string) string {
	return text[:m.offset] + m.Is + text[m.offset+len(m.Was):]
}
