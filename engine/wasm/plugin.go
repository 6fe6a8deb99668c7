package wasm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Options name the plugin to open and the operator's settings for its rules.
type Options struct {
	Module string // the .wasm file, or a bundle of OPA's (.tar.gz) with a compiled policy; its manifest stands beside it
	Cache  string // directory of compiled modules; "" for none
	// Levels sets rules of the plugin to off, warn, ask or deny, by rule id.
	Levels map[string]string
	// Exemptions are rule ids in the order of facts.Layout.Exemptions; those of other rules mean nothing
	// here.
	Exemptions []string
	// Functions gives compiled policies the builtin functions of Rego that OPA's runtime for WebAssembly
	// has not, or has and should not use. nil, and a result of nil: there are none.
	Functions func(name string) Function

	Clock   func() time.Time // stands in for the clock in tests
	Compile time.Duration    // limit on the compilation; 0: one minute
}

// maxModule bounds the size of a module, in bytes.
const maxModule = 32 << 20

// Plugin judges inputs by one module. It is safe for concurrent use.
type Plugin struct {
	manifest   Manifest
	file       string // as it was named
	size       int
	imports    []imported
	policy     *policy // nil: it is a rule plugin
	rules      map[string]bool
	levels     map[string]string
	exemptions []string
	pool       *pool
}

var _ engine.Evaluator = (*Plugin)(nil)

// Open loads a plugin, compiles it and tries it on a sample. Its defects are errors.
func Open(ctx context.Context, o Options) (*Plugin, error) {
	p, err := open(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("load plugin %s: %w", o.Module, err)
	}
	return p, nil
}

func open(ctx context.Context, o Options) (*Plugin, error) {
	manifest, err := readManifest(ManifestFile(o.Module))
	if err != nil {
		return nil, err
	}
	p := &Plugin{manifest: manifest, file: o.Module, rules: map[string]bool{}, levels: map[string]string{},
		exemptions: o.Exemptions}
	for _, name := range manifest.Rules {
		p.rules[manifest.Rule(name)] = true
	}
	if err := p.setLevels(o); err != nil {
		return nil, err
	}
	binary, err := readLimited(o.Module, maxModule)
	if err != nil {
		return nil, err
	}
	if sum := digest(binary); sum != manifest.SHA256 {
		return nil, fmt.Errorf(
			"its sha256 is %s, and its manifest says %s: if the module is the right one, run sallyport plugin seal %s",
			sum, manifest.SHA256, o.Module)
	}
	p.size = len(binary)
	k, err := p.kind(binary, o)
	if err != nil {
		return nil, err
	}
	m, err := rewrite(k.binary, manifest.Limits.pages(), k.replace)
	if err != nil {
		return nil, err
	}
	if err := checkShape(m, k); err != nil {
		return nil, err
	}
	p.imports = m.imports
	c, err := compile(ctx, m, k.provided, o.Cache, cmp.Or(o.Compile, maxCompile))
	if err != nil {
		return nil, err
	}
	if o.Clock != nil {
		c.clock = o.Clock
	}
	var said [][]byte
	if p.pool, said, err = newPool(ctx, c, m, k.speaks, manifest.Limits); err != nil {
		return nil, errors.Join(prefixed("try it on a sample", err), c.close())
	}
	if _, err := p.judgement(sampleInput(), said); err != nil {
		return nil, errors.Join(fmt.Errorf("try it on a sample: read its findings: %w", err), p.Close())
	}
	return p, nil
}

// setLevels takes the settings of this plugin's rules. One of a rule that it has not is a mistake
// that would silence nothing.
func (p *Plugin) setLevels(o Options) error {
	own := p.manifest.Rule("")
	check := func(what, id string) error {
		if strings.HasPrefix(id, own) && !p.rules[id] {
			return fmt.Errorf("%s: no rule %q: it has %s", what, id,
				strings.Join(slices.Sorted(maps.Keys(p.rules)), ", "))
		}
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(o.Levels)) {
		if err := check("rules", id); err != nil {
			return err
		}
		if p.rules[id] {
			p.levels[id] = o.Levels[id]
		}
	}
	for _, id := range o.Exemptions {
		if err := check("exemptions", id); err != nil {
			return err
		}
	}
	return nil
}

// Names of a module's exports.
const (
	exportMemory    = "memory"
	exportInterface = "sallyport_interface"
	exportAlloc     = "sallyport_alloc"
	exportEvaluate  = "sallyport_evaluate"
	exportInit      = "_initialize"
	exportStart     = "_start"
)

// kind is the difference between rule plugins and compiled policies.
type kind struct {
	speaks   abi
	binary   []byte
	replace  map[string]string
	provided map[imported]hostFunction
	exports  []string // that it cannot do without
}

func (p *Plugin) kind(file []byte, o Options) (kind, error) {
	if p.manifest.Policy == nil {
		if isBundle(o.Module) {
			return kind{}, errors.New("it holds a compiled policy: describe its rules under policy in the manifest")
		}
		return kind{rules{}, file, nil, wasiFunctions(), []string{exportInterface, exportAlloc, exportEvaluate}},
			nil
	}
	functions := o.Functions
	if functions == nil {
		functions = func(string) Function { return nil }
	}
	p.policy = &policy{data: []byte("{}"), functions: functions, rules: p.manifest.Rules}
	if isBundle(o.Module) {
		var err error
		if file, p.policy.data, err = readBundle(file); err != nil {
			return kind{}, err
		}
	}
	return kind{p.policy, file, native(), p.policy.imports(),
		[]string{policyEval, policyEntrypoints, policyBuiltins}}, nil
}

// checkShape refuses a module that cannot be a plugin before it costs a compilation.
func checkShape(m *metered, k kind) error {
	if _, compiled := m.exports[policyEval]; compiled && k.replace == nil {
		return errors.New("it is a policy compiled by OPA: describe its rules under policy in the manifest")
	}
	if unknown := unknownImports(m.imports, k.provided); len(unknown) > 0 {
		return fmt.Errorf("it imports %s, which does not exist: a rule plugin can import WASI preview 1 "+
			"and nothing else, a compiled policy the functions of OPA 1",
			strings.Join(unknown, ", "))
	}
	var missing []string
	for _, name := range k.exports {
		if kind, ok := m.exports[name]; !ok || kind != kindFunc {
			missing = append(missing, name)
		}
	}
	if kind, ok := m.exports[exportMemory]; !ok || kind != kindMemory {
		missing = append(missing, exportMemory)
	}
	if len(missing) == 0 {
		return nil
	}
	hint := ""
	if _, program := m.exports[exportStart]; program {
		hint = ": it is a program; build a library, with Go by -buildmode=c-shared"
	}
	return fmt.Errorf("it does not export %s%s", strings.Join(missing, ", "), hint)
}

// sampleInput is the input of a trial: "cat notes.txt", a harmless command that reads a file. It makes a
// plugin create the values that it creates once for every kind of fact.
func sampleInput() *facts.Input {
	session := facts.NoSession()
	session.Approved = []facts.Approved{{Program: "./x", Dir: "/work", Unread: true}}
	return &facts.Input{
		Version: facts.Version,
		Request: facts.Request{
			Time: time.Unix(0, 0).UTC(), Tool: "execute_command", Command: "cat notes.txt", WorkDir: "/work",
			WorkDirState:   "dir",
			WorkDirAllowed: true, TimeoutSeconds: 60, Env: []string{"PATH"},
		},
		Runner: facts.Runner{
			Name: "local", Isolation: "none", Network: "host",
			Confinement: facts.Confinement{Write: facts.Open, Read: facts.Open, Connect: facts.Open},
		},
		Shell: facts.Shell{Parsed: true, Certainty: "exact", Legacy: []string{}},
		Commands: []facts.Command{{
			Name: "cat", Program: "cat", Known: true, Argv: []string{"cat", "notes.txt"}, Env: []string{},
			Certainty: "exact", Via: []string{},
			Pipeline: facts.Pipeline{Length: 1}, Inputs: []int{}, Effects: []string{"read"}, Flags: []string{},
			Hosts:   []string{},
			Options: []facts.Option{}, Operands: []facts.Operand{{Value: "notes.txt", Kind: "read",
				Certainty: "exact"}},
			Packages: []facts.Package{}, Variables: []facts.Option{}, Targets: []facts.Target{},
			Kube:    []facts.Kube{},
			Matches: facts.Matches{Deny: []int{}, Exempt: []int{}}, Dir: "/work", Paths: []int{0},
			Span: facts.Span{End: len("cat notes.txt")},
		}},
		Paths: []facts.Path{{
			Raw: "notes.txt", Path: "/srv/notes.txt", Real: "/srv/notes.txt", Access: "read", Source: "argument",
			Certainty: "exact",
			Exists:    true, Type: "file", Zone: "workspace", Permission: "write", Labels: []string{}, Seen: "none",
			ObeyedBy:       []facts.Obeyed{},
			OperatorLabels: []string{},
			Unread:         facts.Unread{Examples: []string{}},
			Git:            facts.Versions{State: "none", Examples: []string{}},
		}},
		Git:     facts.Git{Remotes: []facts.Remote{}},
		Session: session,
	}
}

// Name is the plugin's name, as in its manifest.
func (p *Plugin) Name() string { return p.manifest.Name }

// Policy names the evaluator's policies.
func (p *Plugin) Policy() engine.PolicyInfo {
	return engine.PolicyInfo{
		Revision: p.manifest.Name + "@" + p.manifest.Version,
		Bundles:  map[string]string{"plugin/" + p.manifest.Name: "sha256:" + p.manifest.SHA256},
	}
}

// Evaluate lets the plugin judge in. A sound list of findings is a Judgement; all else is an error.
func (p *Plugin) Evaluate(ctx context.Context, in *facts.Input) (engine.Judgement, error) {
	return p.explain(ctx, in, func(engine.Reason, bool) {})
}

func (p *Plugin) explain(ctx context.Context, in *facts.Input,
	show func(engine.Reason, bool)) (engine.Judgement, error) {
	begin := time.Now()
	j, err := p.evaluate(ctx, in, show)
	j.Spent = []engine.Spent{{By: "plugin " + p.manifest.Name, Time: time.Since(begin)}}
	if err != nil {
		return engine.Judgement{}, fmt.Errorf("plugin %s: %w", p.manifest.Name, err)
	}
	return j, nil
}

func (p *Plugin) evaluate(ctx context.Context, in *facts.Input,
	show func(engine.Reason, bool)) (engine.Judgement, error) {
	if in == nil || in.Version != facts.Version {
		return engine.Judgement{}, fmt.Errorf("there is no input of version %d", facts.Version)
	}
	input, err := encode(in)
	if err != nil {
		return engine.Judgement{}, err
	}
	outputs, err := p.pool.evaluate(ctx, input)
	if err != nil {
		return engine.Judgement{}, err
	}
	j, err := p.judged(in, outputs, show)
	if err != nil {
		return engine.Judgement{}, fmt.Errorf("read its findings: %w", err)
	}
	return j, nil
}

// encode writes an input as JSON, with no more escapes than JSON needs: commands are full of < and &,
// and a plugin may look for a word without decoding all.
func encode(in *facts.Input) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(in); err != nil {
		return nil, fmt.Errorf("encode input: %w", err)
	}
	return b.Bytes()[:b.Len()-1], nil // without the line break
}

// Close waits for calls to end and frees the plugin.
func (p *Plugin) Close() error { return p.pool.close() }
