package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/policies"
)

// policyDirs returns the directories that were named, or those of the configuration.
func (a *app) policyDirs(args []string) ([]string, error) {
	if len(args) > 0 {
		return args, nil
	}
	l, err := a.load()
	if err != nil {
		return nil, err
	}
	dirs := directories(l.Policies)
	if len(dirs) == 0 {
		return nil, usageError{errors.New("no policies to look at: name a directory, or set policies in the configuration")}
	}
	return dirs, nil
}

// directories leaves bundles out: they hold neither tests nor anything that could be mended in them.
func directories(places []string) []string {
	var dirs []string
	for _, p := range places {
		if !rego.IsBundle(p) {
			dirs = append(dirs, p)
		}
	}
	return dirs
}

func (a *app) policyCheck() *cobra.Command {
	var fix bool
	cmd := &cobra.Command{
		Use:   "check [DIR…]",
		Short: "Look for mistakes in policies",
		Long: `Look for mistakes in the policies of directories, by default those that the configuration names:
errors that keep them from being loaded, fields and values that the input does not have, findings that
cannot be read, rules that can never fire, metadata, and the format of opa fmt.

Exits with 0 without findings, 1 with any.`,
		Example: `  sallyport policy check policies
  sallyport policy check --fix policies      # put the format right`,
	}
	f := formatFlag(cmd)
	cmd.Flags().BoolVar(&fix, "fix", false, "format files as opa fmt does")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		dirs, err := a.policyDirs(args)
		if err != nil {
			return err
		}
		found, err := rego.Vet(policies.Kit(), dirs)
		if err != nil {
			return err
		}
		if fix {
			fixed, err := a.reformat(found.Problems)
			if err != nil {
				return err
			}
			if fixed {
				if found, err = rego.Vet(policies.Kit(), dirs); err != nil {
					return err
				}
			}
		}
		return a.writeVetted(found, *f)
	}
	return cmd
}

// reformat formats files, and reports whether it changed any.
func (a *app) reformat(problems []rego.Problem) (bool, error) {
	fixed := false
	for _, p := range problems {
		if p.Kind != "format" {
			continue
		}
		text, err := os.ReadFile(p.File)
		if err != nil {
			return fixed, fmt.Errorf("format policies: %w", err)
		}
		formatted, err := rego.Format(p.File, text)
		if err != nil {
			return fixed, fmt.Errorf("format %s: %w", p.File, err)
		}
		if bytes.Equal(text, formatted) {
			continue
		}
		if err := os.WriteFile(p.File, formatted, 0o644); err != nil {
			return fixed, fmt.Errorf("format policies: %w", err)
		}
		a.say("formatted %s", printable(p.File))
		fixed = true
	}
	return fixed, nil
}

func (a *app) writeVetted(found rego.Vetted, f format) error {
	var err error
	if f == formatJSON {
		if found.Problems == nil {
			found.Problems = []rego.Problem{}
		}
		err = writeIndented(a.out, found)
	} else {
		for _, p := range found.Problems {
			fmt.Fprintln(a.out, printable(p.String()))
		}
		_, err = fmt.Fprintf(a.out, "%s, %s\n", count(found.Files, "file"), count(len(found.Problems), "problem"))
	}
	if err != nil || len(found.Problems) == 0 {
		return err
	}
	return exitStatus(exitBroken)
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
