package main

import (
	"fmt"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/wasm"
	"github.com/sallyport-dev/sallyport/plugins"
)

// listed is the JSON form of plugins: those of rules first.
func listed(infos []wasm.Info, runners []plugins.RunnerPlugin) []any {
	type rules struct {
		Kind string `json:"kind"`
		wasm.Info
	}
	all := []any{}
	for _, p := range infos {
		all = append(all, rules{"rules", p})
	}
	for _, r := range runners {
		all = append(all, r)
	}
	return all
}

// listRunners writes the installed runners behind the plugins of rules.
func (a *app) listRunners(runners []plugins.RunnerPlugin) error {
	fmt.Fprintln(a.out)
	rows := make([][]string, len(runners))
	for i, r := range runners {
		state := "ok"
		if r.Problem != "" {
			state = "not started"
		}
		rows[i] = []string{r.Name, r.Version, r.SHA256[:12], fmt.Sprint(r.Interface), state, r.Program, r.File}
	}
	return writeTable(a.out, []string{"RUNNER", "VERSION", "SHA256", "PROTOCOL", "STATE", "PROGRAM", "FILE"}, rows)
}

// describePlugins writes each plugin, with a blank line in between.
func (a *app) describePlugins(infos []wasm.Info, runners []plugins.RunnerPlugin) error {
	var all []func() error
	for _, p := range infos {
		all = append(all, func() error { return a.describePlugin(p) })
	}
	for _, r := range runners {
		all = append(all, func() error { return a.describeRunner(r) })
	}
	for i, describe := range all {
		if i > 0 {
			fmt.Fprintln(a.out)
		}
		if err := describe(); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) describeRunner(r plugins.RunnerPlugin) error {
	fmt.Fprintf(a.out, "%s %s\n\n", styleOf(a.out).Bold(r.Name), r.Version)
	state := "the program is the one that the manifest describes"
	if r.Problem != "" {
		state = "not started: " + r.Problem
	}
	return writeTable(a.out, []string{"file", r.File}, [][]string{
		{"program", r.Program}, {"sha256", r.SHA256}, {"protocol", fmt.Sprint(r.Interface)}, {"command", strings.Join(r.Command, " ")},
		{"isolation", r.Isolation}, {"network", r.Network}, {"state", state},
	})
}
