package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/engine/rego"
)

//go:embed scaffold
var scaffold embed.FS

func (a *app) policyNew() *cobra.Command {
	var dir string
	rule := &cobra.Command{
		Use:   "rule custom/CATEGORY/NAME",
		Short: "Write a new rule with its test and its cases",
		Long: `Write a new rule with its unit test and a file of cases, ready to be changed. Existing files are
not overwritten. The new ones are put below --dir, by default the first directory that the configuration
names, or ./policies.`,
		Example: "  sallyport policy new rule custom/git/no_push --dir policies",
		Args:    exactly(1, "the id of the new rule: custom/CATEGORY/NAME"),
	}
	rule.Flags().StringVar(&dir, "dir", "", "`directory` of policies to write into")
	rule.RunE = func(_ *cobra.Command, args []string) error {
		if err := rego.CheckCustomID(args[0]); err != nil {
			return usageError{err}
		}
		given := dir != ""
		if !given {
			l, err := a.load()
			if err != nil {
				return err
			}
			if dir = "policies"; len(directories(l.Policies)) > 0 {
				dir = directories(l.Policies)[0]
				given = true
			}
		}
		files, err := scaffoldRule(dir, args[0])
		for _, f := range files {
			fmt.Fprintln(a.out, printable(f))
		}
		if err == nil && !given {
			a.say(`to have it judge, add "policies: [%s]" to the configuration`, printable(dir))
		}
		return err
	}
	all := group("new", "Write new policies", "", rule)
	all.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 && rego.CheckCustomID(args[0]) == nil {
			return usageError{fmt.Errorf("unknown command %q: did you mean: sallyport policy new rule %s", args[0], args[0])}
		}
		return helpOrUnknown(cmd, args)
	}
	return all
}

// scaffoldRule writes the files of a new rule and returns their names.
func scaffoldRule(dir, id string) ([]string, error) {
	parts := strings.Split(id, "/")
	name := parts[len(parts)-1]
	title := strings.ReplaceAll(name, "_", " ")
	about := strings.NewReplacer(
		"{{ID}}", id, "{{Name}}", name, "{{Package}}", strings.Join(parts, "."), "{{Title}}", strings.ToUpper(title[:1])+title[1:],
	)
	place := filepath.Join(dir, filepath.FromSlash(id))
	if _, err := os.Lstat(place); err == nil {
		return nil, fmt.Errorf("write rule %s: %s is there already: choose another name or take it away", id, place)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("write rule %s: %w", id, err)
	}
	if err := os.MkdirAll(place, 0o755); err != nil {
		return nil, fmt.Errorf("write rule %s: %w", id, err)
	}
	var written []string
	for _, f := range []struct{ from, to string }{
		{"rule.rego", name + ".rego"}, {"test.rego", name + "_test.rego"}, {"cases.yaml", name + ".cases.yaml"},
	} {
		text, err := scaffold.ReadFile("scaffold/" + f.from + ".tmpl")
		if err != nil {
			return written, fmt.Errorf("write rule %s: %w", id, err)
		}
		file := filepath.Join(place, f.to)
		if err := os.WriteFile(file, []byte(about.Replace(string(text))), 0o644); err != nil {
			return written, fmt.Errorf("write rule %s: %w", id, err)
		}
		written = append(written, file)
	}
	return written, nil
}
