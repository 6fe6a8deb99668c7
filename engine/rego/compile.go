package rego

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/compile"

	"github.com/sallyport-dev/sallyport/engine/compiled"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// capabilities are the builtins that policies may use: every builtin with a result that depends on nothing
// but its arguments. So no policy can reach the network, read the clock or the environment, or roll dice, and
// a recorded input is judged again as it was judged before.
var capabilities = sync.OnceValue(func() *ast.Capabilities {
	c := ast.CapabilitiesForThisVersion()
	c.Builtins = slices.DeleteFunc(c.Builtins, func(b *ast.Builtin) bool { return b.Nondeterministic })
	c.AllowNet = []string{} // not nil, which would mean any host
	return c
})

// Capabilities is the OPA capabilities document for policies, for `opa check --capabilities` and editors.
func Capabilities() ([]byte, error) {
	document, err := asJSON(capabilities())
	if err != nil {
		return nil, fmt.Errorf("write capabilities: %w", err)
	}
	// An empty list, which Go leaves out: opa would take a missing one for any host.
	document.(map[string]any)["allow_net"] = []string{}
	return json.MarshalIndent(document, "", "  ")
}

// compile compiles all modules with the registry of rules, given as text. Problems are noted.
func (s *fileSet) compile(registry string, tested bool) *ast.Compiler {
	if len(s.problems) > 0 {
		return nil
	}
	return s.compiled(registry, tested)
}

func (s *fileSet) compiled(registry string, tested bool) *ast.Compiler {
	modules, err := s.modules(registry)
	if err != nil {
		s.failed("", err)
		return nil
	}
	compiler := newCompiler().WithPathConflictsCheck(s.conflicts)
	if tested {
		compiler.WithSkipStages(onlyChecks...)
	} else if schema, err := inputSchema(); err != nil {
		s.failed("", err)
		return nil
	} else {
		compiler.WithSchemas(schema)
	}
	compiler.Compile(modules)
	if compiler.Failed() {
		s.failed("", compiler.Errors)
		s.blameCustom()
	}
	return compiler
}

// inputSchema is the form of the policy input. With it a rule that reads a field which does not exist
// is an error; without it that rule would be silent for ever.
func inputSchema() (*ast.SchemaSet, error) {
	text, err := facts.Schema()
	if err != nil {
		return nil, err
	}
	var schema any
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, err
	}
	set := ast.NewSchemaSet()
	set.Put(ast.SchemaRootRef, schema)
	return set, nil
}

// onlyChecks are the stages of compilation that change nothing and do nothing but find mistakes: a
// quarter of its time. Which functions a policy may call is not among them.
var onlyChecks = []ast.StageID{
	ast.StageCheckUnusedImports, ast.StageCheckKeywordOverrides, ast.StageCheckDuplicateImports,
	ast.StageCheckVoidCalls,
	ast.StageCheckRuleConflicts, ast.StageCheckRecursion, ast.StageCheckTypes,
}

// blameCustom drops OPA's reports about built-in modules if it also reports custom ones: a custom rule that
// reads the decision makes every rule on the way to it recursive.
func (s *fileSet) blameCustom() {
	custom := map[string]bool{}
	for _, src := range s.sources {
		custom[src.name] = src.custom
	}
	isCustom := func(p Problem) bool { return custom[p.File] }
	if slices.ContainsFunc(s.problems, isCustom) {
		s.problems = slices.DeleteFunc(s.problems, func(p Problem) bool { return !isCustom(p) })
	}
}

func newCompiler() *ast.Compiler {
	return ast.NewCompiler().WithStrict(true).WithCapabilities(capabilities()).SetErrorLimit(0)
}

// modules are the modules to compile, by file name.
func (s *fileSet) modules(registry string) (map[string]*ast.Module, error) {
	modules := make(map[string]*ast.Module, len(s.sources)+1)
	for _, src := range s.sources {
		modules[src.name] = src.module
	}
	module, err := ast.ParseModuleWithOpts(registryFile, registry,
		ast.ParserOptions{Capabilities: capabilities(), RegoVersion: ast.RegoV1})
	if err != nil {
		return nil, err
	}
	modules[registryFile] = module
	return modules, nil
}

// conflicts reports whether a data file holds something where a rule would be.
func (s *fileSet) conflicts(place []string) (bool, error) {
	for _, d := range s.documents {
		var value any = d.value
		rest := place
		for _, key := range d.at {
			if len(rest) == 0 || rest[0] != key {
				value = nil
				break
			}
			rest = rest[1:]
		}
		for _, key := range rest {
			object, _ := value.(map[string]any)
			value = object[key]
		}
		if value != nil {
			return true, nil
		}
	}
	return false, nil
}

// Compile makes the form for WebAssembly of the built-in policies: the module, and the facts about its rules
// that it lacks. The same policies give the same bytes.
func Compile(ctx context.Context, policies fs.FS, revision string) (module, rules []byte, err error) {
	loaded, err := load(Options{Bundle: policies, Revision: revision})
	if err != nil {
		return nil, nil, err
	}
	if unsure := loaded.unsure(); len(unsure) > 0 {
		return nil, nil, fmt.Errorf("compile policies: they call %s: in WebAssembly an error of a "+
			"builtin function is silence, and sets have no order: "+
			"see that neither can happen and add it to the list of sure functions", strings.Join(unsure,
			", "))
	}
	set := &fileSet{}
	set.read(policies, "", false, isModule)
	set.sources = append(set.sources, &source{name: registryFile + ".rego",
		text: levelsElsewhere(loaded.rules)})
	if module, err = set.assemble(ctx, compiled.DecisionEntry, compiled.ExplanationEntry); err != nil {
		return nil, nil, err
	}
	d := compiled.Description{Revision: revision, Optional: optional(loaded.rules)}
	for _, r := range loaded.rules {
		about, err := r.metadata()
		if err != nil {
			return nil, nil, err
		}
		d.Rules = append(d.Rules, compiled.DescribedRule{
			ID: r.id, Title: about.title, Severity: about.severity, Remediation: about.remediation,
			Trial:   about.trial,
			Defined: r.defined,
		})
	}
	if rules, err = json.MarshalIndent(d, "", "\t"); err != nil {
		return nil, nil, fmt.Errorf("describe compiled policies: %w", err)
	}
	return module, append(rules, '\n'), nil
}

// sure are the builtin functions that cannot fail on well-typed facts, and that agree in OPA's runtime for
// WebAssembly and in topdown.
var sure = []string{
	"and", "array.concat", "assign", "concat", "count", "endswith", "eq", "equal", "gt", "gte",
	"internal.member_2", "internal.member_3",
	"internal.template_string", "is_array", "is_boolean", "is_string", "lt", "lte", "minus", "neq",
	"object.get", "object.keys", "object.union", "or", "plus", "startswith",
}

// unsure are the builtin functions that policies call and that are not sure.
func (p *ruleSet) unsure() []string {
	var names []string
	note := func(operator ast.Ref) {
		name := operator.String()
		if _, builtin := ast.BuiltinMap[name]; builtin && !slices.Contains(sure, name) {
			names = append(names, name)
		}
	}
	for _, module := range p.compiler.Modules {
		ast.WalkExprs(module, func(e *ast.Expr) bool {
			if e.IsCall() {
				note(e.Operator())
			}
			return false
		})
		ast.WalkTerms(module, func(t *ast.Term) bool {
			if call, ok := t.Value.(ast.Call); ok && len(call) > 0 {
				if operator, ok := call[0].Value.(ast.Ref); ok {
					note(operator)
				}
			}
			return false
		})
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// assemble compiles modules to WebAssembly.
func (s *fileSet) assemble(ctx context.Context, entrypoints ...string) ([]byte, error) {
	// OPA hands its result to another program where one of these is set.
	for _, name := range []string{"EXPERIMENTAL_WASM_OPT", "EXPERIMENTAL_WASM_OPT_ARGS"} {
		if os.Getenv(name) != "" {
			return nil, fmt.Errorf("compile policies: %s is set: unset it", name)
		}
	}
	s.parse()
	if err := s.err(); err != nil {
		return nil, err
	}
	b := &bundle.Bundle{Data: map[string]any{}}
	for _, src := range s.sources {
		b.Modules = append(b.Modules, bundle.ModuleFile{Path: src.name, URL: src.name, Raw: []byte(src.text),
			Parsed: src.module})
	}
	slices.SortFunc(b.Modules, func(x, y bundle.ModuleFile) int {
		return slices.Compare([]byte(x.Path),
			[]byte(y.Path))
	})
	c := compile.New().WithBundle(b).WithTarget(compile.TargetWasm).WithEntrypoints(
		entrypoints...).WithCapabilities(capabilities()).WithRegoVersion(ast.RegoV1)
	if err := c.Build(ctx); err != nil {
		return nil, fmt.Errorf("compile policies: %w", err)
	}
	if len(c.Bundle().WasmModules) != 1 {
		return nil, errors.New("compile policies: there is no module")
	}
	return c.Bundle().WasmModules[0].Raw, nil
}
