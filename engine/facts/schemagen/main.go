// Command schemagen writes the JSON Schema of the policy input to the file named by its
// argument. go generate runs it; nothing else needs it.
package main

import (
	"fmt"
	"os"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "schemagen:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("read arguments: %d given: name the file to write", len(args))
	}
	schema, err := facts.Schema()
	if err != nil {
		return err
	}
	return os.WriteFile(args[0], schema, 0o644)
}
