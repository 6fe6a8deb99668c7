// Command compilegen compiles the built-in policies to WebAssembly and writes the module, and the data about
// its rules that it lacks, to the directory named by its argument. go generate runs it; nothing else needs it.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/engine/wasm"
	"github.com/sallyport-dev/sallyport/policies"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "compilegen:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("read arguments: %d given: name the directory to write to", len(args))
	}
	module, rules, err := rego.Compile(context.Background(), policies.FS(), policies.Revision())
	if err != nil {
		return err
	}
	if module, err = wasm.Metered(module); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(args[0], "policy.wasm"), module, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(args[0], "rules.json"), rules, 0o644)
}
