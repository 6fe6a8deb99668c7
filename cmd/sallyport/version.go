package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/internal/release"
	"github.com/sallyport-dev/sallyport/policies"
)

// versions is what sallyport is made of.
type versions struct {
	Sallyport string `json:"sallyport"`
	Commit    string `json:"commit"`
	Go        string `json:"go"`
	OPA       string `json:"opa"`
	Platform  string `json:"platform"`
	Policies  string `json:"policies"` // revision of the built-in policies
}

// version reads what the linker and the go command left in the binary.
func version() versions {
	v := versions{
		Sallyport: release.Version(), Commit: release.Commit(), OPA: "unknown",
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Policies: policies.Revision(),
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, dep := range info.Deps {
		if dep.Path == "github.com/open-policy-agent/opa" {
			v.OPA = dep.Version
		}
	}
	return v
}

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "version", Short: "Print version and build information", Args: noArgs}
	f := formatFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error { return a.writeVersion(*f) }
	return cmd
}

func (a *app) writeVersion(f format) error {
	v := version()
	if f == formatJSON {
		return writeIndented(a.out, v)
	}
	return writeTable(a.out, []string{"sallyport", v.Sallyport}, [][]string{
		{"commit", v.Commit}, {"go", v.Go}, {"opa", v.OPA}, {"platform", v.Platform}, {"policies", v.Policies},
	})
}
