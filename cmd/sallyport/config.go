package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/plugins"
)

// sample is the file of config init: a configuration that states the defaults.
//
//go:embed sample.yaml
var sample []byte

func (a *app) configCommand() *cobra.Command {
	return group("config", "Make, show and check the configuration", `  sallyport config init
  sallyport config check sallyport.yaml
`,
		a.configInit(), a.configShow(), a.configCheck(), a.configSchema())
}

func (a *app) configInit() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a commented configuration to start from",
		Long: `Write a commented configuration to start from. Without FILE it goes to the user's place,
$XDG_CONFIG_HOME/sallyport/config.yaml. An existing file is left alone.`,
		Args: atMostOne,
		RunE: func(_ *cobra.Command, args []string) error {
			host, err := config.ThisHost()
			if err != nil {
				return err
			}
			file := config.UserFile(host)
			if len(args) == 1 {
				file = args[0]
			}
			if file == "" {
				return usageError{errors.New("write configuration: there is no home directory: name a FILE")}
			}
			if err := create(file, sample, force); err != nil {
				return err
			}
			fmt.Fprintf(a.err, "sallyport: wrote %s\n", printable(file))
			return nil
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace an existing file")
	return cmd
}

func create(file string, content []byte, force bool) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(file, flags, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("write configuration: %s is there already: use --force to replace it", file)
	}
	if err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

func (a *app) configShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show the configuration in force, defaults included",
		Args:  noArgs,
	}
	f := formatFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		l, err := a.load()
		if err != nil {
			return err
		}
		if *f == formatJSON {
			v, err := l.Generic()
			if err != nil {
				return fmt.Errorf("show configuration: %w", err)
			}
			return writeIndented(a.out, map[string]any{"file": l.File, "source": l.Source, "ignored": nonNil(l.Ignored), "config": v})
		}
		from := "no file: the defaults"
		if l.File != "" {
			from = fmt.Sprintf("%s (%s)", l.File, l.Source)
		}
		fmt.Fprintf(a.out, "# from %s\n", printable(from))
		for _, p := range l.Ignored {
			fmt.Fprintf(a.out, "# not read, because it lies in the workspace: %s\n", printable(p))
		}
		text, err := l.YAML()
		if err != nil {
			return fmt.Errorf("show configuration: %w", err)
		}
		_, err = a.out.Write(text)
		return err
	}
	return cmd
}

func nonNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// checked is the JSON form of config check.
type checked struct {
	File     string           `json:"file"`
	OK       bool             `json:"ok"`
	Problems []config.Problem `json:"problems"`
	Warnings []string         `json:"warnings"`
}

func (a *app) configCheck() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Check a configuration: all its problems at once",
		Args:  atMostOne,
	}
	f := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			a.config = args[0]
		}
		l, err := a.load()
		if err == nil {
			err = plugins.Check(cmd.Context(), l)
		}
		if err != nil && *f == formatText {
			return err
		}
		c := checked{Problems: []config.Problem{}, Warnings: []string{}}
		var bad *config.Error
		switch {
		case errors.As(err, &bad):
			c.File, c.Problems = bad.File, bad.Problems
		case err != nil: // about the policies, each line of which is a problem
			for line := range strings.SplitSeq(err.Error(), "\n") {
				c.Problems = append(c.Problems, config.Problem{Text: line})
			}
		default:
			c.File, c.OK, c.Warnings = l.File, true, append(nonNil(l.Warnings()), l.Notes...)
		}
		if *f == formatJSON {
			if err := writeIndented(a.out, c); err != nil || c.OK {
				return err
			}
			return exitStatus(exitBroken)
		}
		for _, w := range c.Warnings {
			fmt.Fprintf(a.err, "sallyport: warning: %s\n", printable(w))
		}
		if c.File == "" {
			c.File = "no file, the defaults"
		}
		fmt.Fprintf(a.out, "ok: %s\n", printable(c.File))
		return nil
	}
	return cmd
}

func (a *app) configSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the configuration, for editors",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.out.Write(config.Schema())
			return err
		},
	}
}
