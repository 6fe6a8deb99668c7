package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/plugins"
	"github.com/sallyport-dev/sallyport/runners/boundary"
)

func (a *app) envHeld() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "held",
		Short: "List files that commands left and that were moved aside",
		Long: `List files that commands left in the workspace and that were moved aside, because programs
of yours would obey them outside of every environment: settings of agents and editors, hooks, the
configuration of repositories.`,
		Args: noArgs,
	}
	f := formatFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		l, err := a.load()
		if err != nil {
			return err
		}
		all, err := plugins.Held(l)
		if err != nil {
			return err
		}
		if *f == formatJSON {
			if all == nil {
				all = []boundary.Entry{}
			}
			return writeIndented(a.out, all)
		}
		rows := make([][]string, len(all))
		for i, e := range all {
			rows[i] = []string{e.ID, age(time.Since(e.Time)), e.Path, e.Message}
		}
		return writeTable(a.out, []string{"ID", "AGE", "PATH", "REASON"}, rows)
	}
	return cmd
}

func (a *app) envRelease() *cobra.Command {
	var whole bool
	cmd := &cobra.Command{
		Use:   "release ID…",
		Short: "Put held files back",
		Long: `Put files back that "sallyport env held" lists, after you have looked at them. ID names one
file, or a decision with all its files; the beginning of one is enough. The release is put on record first. A
file that was changed at its place since then is left alone.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && !whole {
				const want = "want the id of at least one held file, or --all: sallyport env held shows them"
				return usageError{errors.New(want)}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&whole, "all", false, "all held files")
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		l, err := a.load()
		if err != nil {
			return err
		}
		var all []boundary.Entry
		if whole {
			all, err = plugins.Held(l)
		}
		for _, id := range ids {
			some, problem := plugins.HeldAs(l, id)
			all, err = append(all, some...), errors.Join(err, problem)
		}
		if err != nil {
			return err
		}
		done, err := plugins.Release(cmd.Context(), l, version().Sallyport, answerer(), all)
		for _, e := range done {
			fmt.Fprintln(a.out, printable(e.Path))
		}
		return err
	}
	return cmd
}
