package wasm

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// A hostFunction is a function that a module can import. Types are written i for 32 bits and I for 64.
type hostFunction struct {
	params, results string
	call            api.GoModuleFunc
}

// unknownImports lists the imports of a module that are not provided.
func unknownImports(all []imported, provided map[imported]hostFunction) []string {
	var unknown []string
	for _, i := range all {
		if _, ok := provided[i]; !ok {
			unknown = append(unknown, i.String())
		}
	}
	return unknown
}

// instantiateHost makes the modules that a compiled module imports from: the tick of the metering, and those
// provided functions that it imports, with the same types.
func instantiateHost(ctx context.Context, r wazero.Runtime, compiled wazero.CompiledModule,
	provided map[imported]hostFunction) error {
	builders := map[string]wazero.HostModuleBuilder{}
	made := map[imported]bool{}
	for _, d := range compiled.ImportedFunctions() {
		module, name, _ := d.Import()
		i := imported{module, name}
		if made[i] {
			continue
		}
		made[i] = true
		f, ok := provided[i]
		if i == (imported{tickModule, tickName}) {
			f, ok = hostFunction{"", "I", tick}, true
		}
		if !ok || signature(d.ParamTypes()) != f.params || signature(d.ResultTypes()) != f.results {
			return fmt.Errorf("import %s: the host has it under another type", i)
		}
		b := builders[module]
		if b == nil {
			b = r.NewHostModuleBuilder(module)
		}
		builders[module] = b.NewFunctionBuilder().WithGoModuleFunction(f.call, d.ParamTypes(),
			d.ResultTypes()).Export(name)
	}
	for _, module := range slices.Sorted(maps.Keys(builders)) {
		if _, err := builders[module].Instantiate(ctx); err != nil {
			return fmt.Errorf("make the host's functions: %w", err)
		}
	}
	return nil
}

func signature(types []api.ValueType) string {
	var b strings.Builder
	for _, t := range types {
		switch t {
		case api.ValueTypeI32:
			b.WriteByte('i')
		case api.ValueTypeI64:
			b.WriteByte('I')
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}
