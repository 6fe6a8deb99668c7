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

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/compile"

	"github.com/sallyport-dev/sallyport/engine/compiled"
)

// Compile makes the form for WebAssembly of the built-in policies: the module, and the facts about its rules
// that it lacks. The same policies give the same bytes.
func Compile(ctx context.Context, policies fs.FS, revision string) (module, rules []byte, err error) {
	loaded, err := load(Options{Bundle: policies, Revision: revision})
	if err != nil {
		return nil, nil, err
	}
	if unsure := loaded.unsure(); len(unsure) > 0 {
		return nil, nil, fmt.Errorf("compile policies: they call %s: in WebAssembly an error of a builtin function is silence, and sets have no order: "+
			"see that neither can happen and add it to the list of sure functions", strings.Join(unsure, ", "))
	}
	set := &fileSet{}
	set.read(policies, "", false, isModule)
	set.sources = append(set.sources, &source{name: registryFile + ".rego", text: levelsElsewhere(loaded.rules)})
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
			ID: r.id, Title: about.title, Severity: about.severity, Remediation: about.remediation, Defined: r.defined,
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
	"and", "array.concat", "assign", "concat", "count", "endswith", "eq", "equal", "gt", "gte", "internal.member_2", "internal.member_3",
	"internal.template_string", "is_array", "is_boolean", "is_string", "lt", "lte", "minus", "neq", "object.get", "object.keys", "object.union", "or", "plus", "startswith",
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
		b.Modules = append(b.Modules, bundle.ModuleFile{Path: src.name, URL: src.name, Raw: []byte(src.text), Parsed: src.module})
	}
	slices.SortFunc(b.Modules, func(x, y bundle.ModuleFile) int { return slices.Compare([]byte(x.Path), []byte(y.Path)) })
	c := compile.New().WithBundle(b).WithTarget(compile.TargetWasm).WithEntrypoints(entrypoints...).WithCapabilities(capabilities()).WithRegoVersion(ast.RegoV1)
	if err := c.Build(ctx); err != nil {
		return nil, fmt.Errorf("compile policies: %w", err)
	}
	if len(c.Bundle().WasmModules) != 1 {
		return nil, errors.New("compile policies: there is no module")
	}
	return c.Bundle().WasmModules[0].Raw, nil
}
