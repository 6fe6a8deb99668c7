package rego

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"

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
	ast.StageCheckUnusedImports, ast.StageCheckKeywordOverrides, ast.StageCheckDuplicateImports, ast.StageCheckVoidCalls,
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
	module, err := ast.ParseModuleWithOpts(registryFile, registry, ast.ParserOptions{Capabilities: capabilities(), RegoVersion: ast.RegoV1})
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
