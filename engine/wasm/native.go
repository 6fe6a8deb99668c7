package wasm

import (
	"context"

	"github.com/tetratelabs/wazero"
)

// empty is a module with one function that does nothing.
const empty = header + "\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x0a\x04\x01\x02\x00\x0b"

// Native reports whether modules become native code here. Elsewhere they are interpreted, which takes fifty
// times as long: on processors that the runtime has no compiler for, and where memory cannot be made executable.
func Native() (native bool) {
	defer func() {
		if recover() != nil { // that is how the compiler says it
			native = false
		}
	}()
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler())
	defer func() { _ = r.Close(ctx) }()
	m, err := r.InstantiateWithConfig(ctx, []byte(empty), wazero.NewModuleConfig().WithStartFunctions())
	return err == nil && m != nil
}
