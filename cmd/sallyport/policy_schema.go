package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/policies"
)

func (a *app) policySchema() *cobra.Command {
	var kit string
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the policy input",
		Long: `Print the JSON Schema of the policy input, for editors and for "opa check --schema".

With --kit, write into a directory the files with which the stock opa checks and tests policies as sallyport
does: the schema, the builtins that policies may call, the libraries data.sallyport.lib and
data.sallyport.session, and data.sallyport.testing.`,
		Example: `  sallyport policy schema > input.json
  sallyport policy schema --kit kit
  opa check --strict --schema kit/input.json --capabilities kit/capabilities.json kit/lib policies
  opa test kit/lib policies`,
		Args: noArgs,
	}
	cmd.Flags().StringVar(&kit, "kit", "", "`directory` for the files that the stock opa needs")
	cmd.RunE = func(*cobra.Command, []string) error {
		schema, err := facts.Schema()
		if err != nil {
			return fmt.Errorf("make schema: %w", err)
		}
		if kit == "" {
			_, err = a.out.Write(schema)
			return err
		}
		return writeKit(kit, schema)
	}
	return cmd
}

// writeKit writes the schema, the capabilities and the library. What is there of the same name is
// replaced: a kit is that of this version of the program.
func writeKit(dir string, schema []byte) error {
	capabilities, err := rego.Capabilities()
	if err != nil {
		return err
	}
	files := map[string][]byte{"input.json": schema, "capabilities.json": append(capabilities, '\n')}
	// With its roots named, opa takes the library beside a bundle of policies: opa run -b team.tar.gz kit/lib.
	files["lib/.manifest"] = []byte(`{"roots": ["sallyport"], "rego_version": 1}` + "\n")
	for _, part := range []string{"lib", "session", "testing", "config"} {
		err := fs.WalkDir(policies.Kit(), "sallyport/"+part, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			files[path.Join("lib", name)], err = fs.ReadFile(policies.Kit(), name)
			return err
		})
		if err != nil {
			return fmt.Errorf("write kit: %w", err)
		}
	}
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return fmt.Errorf("write kit: %w", err)
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return fmt.Errorf("write kit: %w", err)
		}
	}
	return nil
}
