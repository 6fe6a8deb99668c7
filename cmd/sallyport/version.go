package main

import (
	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/internal/show"
)

// version describes this build.
func version() show.Versions { return show.ThisBuild() }

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "version", Short: "Print version and build information", Args: noArgs}
	f := formatFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error { return a.writeVersion(*f) }
	return cmd
}

func (a *app) writeVersion(f format) error {
	return version().Write(a.out, f == formatJSON)
}
