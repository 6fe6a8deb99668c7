package rego

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/sallyport-dev/sallyport/engine/compiled"
)

// ruleSet is a compiled set of policies with the facts about its rules.
type ruleSet struct {
	compiler  *ast.Compiler // nil: there is nothing for topdown to judge, or nothing yet
	compile   func() error  // makes the compiler; nil: there is nothing for topdown to judge
	registry  string        // the text of the registry
	data      map[string]any
	rules     []*rule          // sorted by id
	byID      map[string]*rule // the same
	digest    string           // of those that topdown judges and that are not off
	awaited   map[fact]bool    // topdown has nothing to find without any of these; nil: it may always have
	revisions map[string]string
	serials   map[string]int64     // of the signed bundles that have one, by place
	described compiled.Description // of the compiled rules; empty where topdown judges all
	// whole interprets the compiled rules, too: of the same files, as they were read. Unindexed it asks every
	// rule about every input.
	whole func(unindexed bool) (*ruleSet, error)
}

// load reads, checks and compiles everything, and reports all that is wrong at once.
func load(opts Options) (*ruleSet, error) {
	set := &fileSet{keys: opts.Keys, texts: opts.Texts, known: opts.Serials, serials: map[string]int64{}}
	set.read(opts.Bundle, "", false, isModule)
	set.readCustom(opts.Custom, isModule)
	whole := set.again()
	if opts.Compiled == nil {
		p, err := set.load(opts, nil, nil)
		if err != nil {
			return nil, err
		}
		p.interpret(whole, opts)
		return p, nil
	}
	described, err := opts.Compiled.Describe()
	if err == nil {
		err = described.CheckRevision(opts.Revision)
	}
	if err != nil {
		return nil, err
	}
	set.leaveOutCompiled()
	p, err := set.load(opts, rulesOf(described), nil)
	if err != nil {
		return nil, err
	}
	p.described = described
	p.interpret(whole, opts)
	return p, nil
}

func (p *ruleSet) interpret(files *fileSet, opts Options) {
	opts.Compiled = nil
	p.whole = func(unindexed bool) (*ruleSet, error) {
		opts.unindexed = unindexed
		return files.again().load(opts, nil, p.data)
	}
}

// rulesOf are the rules of a description, as load makes them of sources.
func rulesOf(d compiled.Description) []*rule {
	rules := make([]*rule, len(d.Rules))
	for i, r := range d.Rules {
		about := metadata{title: r.Title, severity: r.Severity, remediation: r.Remediation, trial: r.Trial}
		rules[i] = &rule{id: r.ID, defined: r.Defined, about: func() (metadata, []Problem) { return about, nil }}
	}
	return rules
}

// start makes the machine that judges by the compiled rules, with the levels that were settled.
func (p *ruleSet) start(ctx context.Context, from *Compiled) (*compiled.Rules, error) {
	levels := map[string]string{}
	for _, r := range p.rules {
		if !r.custom() {
			levels[r.id] = r.setting.Level
		}
	}
	return from.Start(ctx, p.described, levels, p.data)
}

// load checks and compiles the sources. The compiled rules are there besides the interpreted ones. data is
// the merged documents, nil if not known yet.
func (s *fileSet) load(opts Options, native []*rule, data map[string]any) (*ruleSet, error) {
	s.parse()
	rules := s.check()
	if err := s.err(); err != nil {
		return nil, err
	}
	interpreted := rules
	if native != nil {
		interpreted = slices.DeleteFunc(rules, func(r *rule) bool { return !r.custom() })
		rules = slices.SortedFunc(slices.Values(slices.Concat(native, interpreted)),
			func(a, b *rule) int { return cmp.Compare(a.id, b.id) })
	}
	if data == nil {
		var err error
		if data, err = s.data(opts.Config); err != nil {
			return nil, err
		}
	}
	p := &ruleSet{data: data, rules: rules, byID: make(map[string]*rule, len(rules)),
		revisions: s.revisions(opts.Custom), serials: s.serials}
	for _, r := range rules {
		p.byID[r.id] = r
	}
	s.checkConfig(opts.Config, p)
	s.checkRefs(data)
	var ids []string
	for _, r := range interpreted {
		if !r.off() {
			ids = append(ids, r.id)
		}
	}
	p.digest = compiled.DigestOf(ids)
	checked := s.checked(opts)
	known := native != nil && checked.known()
	s.checkMetadata(interpreted, !known)
	if native != nil && len(interpreted) == 0 {
		return p, s.err()
	}
	s.place(interpreted, data)
	waitsFor := (*rule).waitsFor
	if opts.unindexed {
		waitsFor = unconditional
	}
	p.registry = registry(interpreted, waitsFor)
	if native != nil {
		p.awaited = awaited(interpreted)
	}
	p.compile = func() error {
		p.compiler = s.compile(p.registry, known || opts.Tested && len(opts.Custom) == 0)
		return s.err()
	}
	if known && s.err() == nil {
		return p, nil // compiled for the first request that concerns a rule
	}
	err := p.compile()
	if err == nil && native != nil {
		checked.remember()
	}
	return p, err
}

// checked is the file whose presence tells that this program has found no mistake in the very same policies
// and configuration. A mistake in policies with such a file is an error all the same, of a decision.
type checked string

// checked is "" where nothing can be remembered.
func (s *fileSet) checked(opts Options) checked {
	program, err := os.Executable()
	if opts.Checked == "" || err != nil {
		return ""
	}
	info, err := os.Stat(program)
	if err != nil {
		return ""
	}
	config, err := json.Marshal(opts.Config)
	if err != nil {
		return ""
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %d %d %q %s\n", program, info.Size(), info.ModTime().UnixNano(), opts.Revision, config)
	for _, src := range s.sources {
		fmt.Fprintf(sum, "%q %v %q\n", src.name, src.custom, src.text)
	}
	for _, d := range s.documents {
		fmt.Fprintf(sum, "%q %q %s\n", d.name, d.at, d.sum)
	}
	return checked(filepath.Join(opts.Checked, "checked-"+hex.EncodeToString(sum.Sum(nil))))
}

func (c checked) known() bool {
	_, err := os.Lstat(string(c))
	return c != "" && err == nil
}

// remember does its best: without the file, the same is checked anew.
func (c checked) remember() {
	if c != "" {
		_ = os.WriteFile(string(c), nil, 0o600)
	}
}

// place gives rules the parts of their surroundings on which it depends for which facts they wait.
func (s *fileSet) place(rules []*rule, data map[string]any) {
	type adding struct{ pkg, at ast.Ref }
	var elsewhere []adding // rules of the operator's with a name of several parts, and their whole place
	for _, src := range s.sources {
		for _, definition := range src.module.Rules {
			if ref := definition.Head.Ref(); src.custom && len(ref) > 1 {
				pkg := src.module.Package.Path
				name := append(slices.Clone(pkg), ast.StringTerm(ruleName(definition)))
				elsewhere = append(elsewhere, adding{pkg, name.Concat(ref[1:]).GroundPrefix()})
			}
		}
	}
	for _, r := range rules {
		r.data = data
		r.shared = r.custom() && slices.ContainsFunc(elsewhere, func(a adding) bool {
			return !a.pkg.Equal(r.pkg) && (a.at.HasPrefix(r.pkg) || r.pkg.HasPrefix(a.at))
		})
	}
}

// awaited are the facts without any of which no rule finds anything; nil if that is not sure.
func awaited(rules []*rule) map[fact]bool {
	all := map[fact]bool{}
	for _, r := range rules {
		if r.off() {
			continue
		}
		for _, verb := range r.verbs() {
			facts := r.waitsFor(verb)
			if len(facts) == 0 {
				return nil
			}
			for _, f := range facts {
				all[f] = true
			}
		}
	}
	return all
}

// again is a set of the same files, of which nothing is parsed yet.
func (s *fileSet) again() *fileSet {
	c := *s
	c.sources = make([]*source, len(s.sources))
	for i, src := range s.sources {
		c.sources[i] = &source{name: src.name, text: src.text, custom: src.custom}
	}
	return &c
}

// leaveOutCompiled leaves out the built-in modules that need not be compiled again: the rules, unless the
// operator's refer to one of them, and where there are none of the operator's, all.
func (s *fileSet) leaveOutCompiled() {
	custom, refers := false, false
	for _, src := range s.sources {
		custom = custom || src.custom
		refers = refers || src.custom && strings.Contains(src.text, "rules")
	}
	s.sources = slices.DeleteFunc(s.sources, func(src *source) bool {
		return !src.custom && (!custom || !refers &&
			strings.HasPrefix(src.name, filepath.Join("sallyport", "rules")+string(filepath.Separator)))
	})
}

// revisions names the content of each custom directory: equal revisions judge alike.
func (s *fileSet) revisions(dirs []string) map[string]string {
	revisions := make(map[string]string, len(dirs))
	for _, dir := range dirs {
		prefix := below(dir, "x")
		prefix = prefix[:len(prefix)-1]
		var lines []string
		for _, src := range s.sources {
			if src.custom && strings.HasPrefix(src.name, prefix) {
				sum := sha256.Sum256([]byte(src.text))
				lines = append(lines, strings.TrimPrefix(src.name, prefix)+" "+hex.EncodeToString(sum[:]))
			}
		}
		for _, d := range s.documents {
			if strings.HasPrefix(d.name, prefix) {
				lines = append(lines, strings.TrimPrefix(d.name, prefix)+" "+d.sum)
			}
		}
		slices.Sort(lines)
		sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
		revisions[dir] = hex.EncodeToString(sum[:16])
	}
	return revisions
}
