package rego

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/dependencies"
)

// wasmFile is where the module lies in a bundle of OPA's.
const wasmFile = "/policy.wasm"

// addModule compiles the sets of the rules in a bundle to WebAssembly, each an entrypoint as stock OPA would
// make it, and puts the module into the bundle, beside the sources.
func (o BundleOptions) addModule(ctx context.Context, loaded *ruleSet, b *bundle.Bundle) error {
	var entrypoints []string
	for _, r := range loaded.rules {
		if !r.custom() {
			continue
		}
		if err := loaded.selfContained(r); err != nil {
			return err
		}
		for _, verb := range r.verbs() {
			entrypoints = append(entrypoints, r.id+"/"+verb)
		}
	}
	set := &fileSet{}
	set.read(o.Builtin, "", false, isModule)
	set.readCustom(o.Dirs, isModule)
	set.leaveOutCompiled()
	set.sources = slices.DeleteFunc(set.sources, func(src *source) bool {
		return !src.custom && path.Dir(filepath.ToSlash(src.name)) == "sallyport/main" // it needs a registry, and is no part of a rule
	})
	module, err := set.assemble(ctx, entrypoints...)
	if err != nil {
		return err
	}
	b.WasmModules = []bundle.WasmModuleFile{{URL: wasmFile, Path: wasmFile, Raw: module}}
	for _, e := range entrypoints {
		b.Manifest.WasmResolvers = append(b.Manifest.WasmResolvers, bundle.WasmResolver{Entrypoint: e, Module: wasmFile})
	}
	return nil
}

// selfContained refuses a rule that reads the configuration: other programs that run the module do not have
// it.
func (p *ruleSet) selfContained(r *rule) error {
	for _, verb := range r.verbs() {
		set := ast.NewBody(ast.NewExpr(ast.NewTerm(r.pkg.Append(ast.StringTerm(verb)))))
		refs, err := dependencies.Base(p.compiler, set)
		if err != nil {
			return fmt.Errorf("compile policies: rule %s: %w", r.id, err)
		}
		for _, ref := range refs {
			if ref.HasPrefix(ast.MustParseRef("data.sallyport")) {
				return fmt.Errorf("compile policies: rule %s asks for %s, which only sallyport's own configuration has: leave it out of what is built with --wasm",
					r.id, strings.TrimSuffix(ref.String(), "[_]"))
			}
		}
	}
	return nil
}
