package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/wasm"
	"github.com/sallyport-dev/sallyport/plugins"
)

func (a *app) pluginCommand() *cobra.Command {
	return group("plugin", "Show and seal plugins: of rules, and runners",
		`  sallyport plugin inspect no_weekend.wasm
  sallyport plugin seal no_weekend.wasm
`, a.pluginList(), a.pluginInspect(), a.pluginSeal())
}

// measuredCalls is how many calls of a plugin are timed.
const measuredCalls = 50

// pluginInfos opens the plugins of a configuration, measures them and closes them again.
func pluginInfos(ctx context.Context, l *config.Loaded) (_ []wasm.Info, err error) {
	all, err := plugins.RulePlugins(ctx, l)
	if err != nil {
		return nil, err
	}
	infos := []wasm.Info{}
	for _, p := range all {
		defer func() { err = errors.Join(err, p.Close()) }()
		info, err := p.Info(ctx, measuredCalls)
		if err != nil {
			return nil, err
		}
		infos = append(infos, info)
	}
	return infos, nil
}

func (a *app) pluginList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the plugins of the configuration, with the cost of a call",
		Args: noArgs}
	f := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		l, err := a.load()
		if err != nil {
			return err
		}
		infos, err := pluginInfos(cmd.Context(), l)
		if err != nil {
			return err
		}
		runners, err := plugins.RunnerPlugins(l)
		if err != nil {
			return err
		}
		if *f == formatJSON {
			return writeIndented(a.out, listed(infos, runners))
		}
		if len(infos)+len(runners) == 0 {
			a.sayNoPlugins()
			return nil
		}
		rows := make([][]string, len(infos))
		for i, p := range infos {
			rows[i] = []string{p.Name, p.Version, p.SHA256[:12], fmt.Sprint(len(p.Rules)), duration(p.Cost.Median),
				limits(p.Limits), p.File}
		}
		if err := writeTable(a.out, []string{"NAME", "VERSION", "SHA256", "RULES", "CALL", "LIMITS", "FILE"},
			rows); err != nil || len(runners) == 0 {
			return err
		}
		return a.listRunners(runners)
	}
	return cmd
}

func (a *app) sayNoPlugins() { a.say("no plugins: name modules under plugins in the configuration") }

func limits(l wasm.Limits) string {
	return fmt.Sprintf("%d MiB, %d ms, %d KiB out", l.MemoryMiB, l.TimeMS, l.OutputKiB)
}

// duration words microseconds.
func duration(us float64) string {
	if us < 1000 {
		return fmt.Sprintf("%.0f µs", us)
	}
	return fmt.Sprintf("%.1f ms", us/1000)
}

func (a *app) pluginInspect() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "inspect [FILE…]",
		Short: "Show the kind, the imports and the cost of a call of plugins",
		Long: `Show the kind, the imports and the cost of a call of plugins: those of the configuration, or the
modules (.wasm) and manifests of runners (.yaml) that are named. A module is loaded and tried as
for a request; its manifest must be beside it. A runner is compared with its manifest, and
not started.`,
	}
	f := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l, err := a.load()
		if err != nil {
			return err
		}
		if len(args) > 0 {
			named := *l // settings of rules are for the plugins of the configuration
			named.Plugins, named.Rules, named.Exemptions, named.Runners = nil, nil, nil, map[string]config.Remote{}
			for _, file := range args {
				full, err := filepath.Abs(file)
				if err != nil {
					return fmt.Errorf("find %s: %w", file, err)
				}
				if plugins.IsRunnerManifest(full) {
					named.Runners[full] = config.Remote{Plugin: config.Path(full)}
				} else {
					named.Plugins = append(named.Plugins, config.Path(full))
				}
			}
			l = &named
		}
		infos, err := pluginInfos(cmd.Context(), l)
		if err != nil {
			return err
		}
		runners, err := plugins.RunnerPlugins(l)
		if err != nil {
			return err
		}
		if *f == formatJSON {
			return writeIndented(a.out, listed(infos, runners))
		}
		if len(infos)+len(runners) == 0 {
			a.sayNoPlugins()
			return nil
		}
		return a.describePlugins(infos, runners)
	}
	return cmd
}

func (a *app) describePlugin(p wasm.Info) error {
	fmt.Fprintf(a.out, "%s %s\n\n", styleOf(a.out).Bold(p.Name), p.Version)
	reset := "its memory is put back to a snapshot after every call"
	if p.Reset.Why != "" {
		reset = "every call gets a new instance: it has " + p.Reset.Why
	}
	imports := "nothing"
	if len(p.Imports) > 0 { // each with its module, of which there is but one
		imports = strings.ReplaceAll(strings.Join(p.Imports, ", "), "wasi_snapshot_preview1.", "")
	}
	return writeTable(a.out, []string{"file", p.File}, [][]string{
		{"sha256", p.SHA256}, {"size", fmt.Sprintf("%d bytes", p.Bytes)}, {"interface", fmt.Sprint(p.Interface)},
		{"rules", strings.Join(p.Rules, ", ")}, {"limits", limits(p.Limits)}, {"imports", imports},
		{"state", reset}, {"memory", fmt.Sprintf("%d KiB", p.MemoryKiB)},
		{"call", fmt.Sprintf("%s (median of %d), at most %s", duration(p.Cost.Median), p.Cost.Calls,
			duration(p.Cost.Slowest))},
		{"instance", duration(p.Cost.Instance)}, {"load", duration(p.Cost.Load)}, {"compiled", p.Compiled},
	})
}

// plugins says whether the plugins of the configuration can judge here.
func (d *doctor) plugins(ctx context.Context, l *config.Loaded) {
	if len(l.Plugins) == 0 {
		return
	}
	infos, err := pluginInfos(ctx, l)
	if err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			d.add("plugins", "fail", line, "")
		}
		return
	}
	for _, p := range infos {
		d.add("plugins", "ok", fmt.Sprintf("%s %s: %d rules, %s a call, compiled form in %s", p.Name, p.Version,
			len(p.Rules), duration(p.Cost.Median), p.Compiled), "")
	}
}

func (a *app) pluginSeal() *cobra.Command {
	return &cobra.Command{
		Use:   "seal FILE",
		Short: "Write the digest of a module, or of a runner's program, into its manifest",
		Args:  exactly(1, "a module (.wasm), or the manifest of a runner (.yaml)"),
		RunE: func(_ *cobra.Command, args []string) error {
			if plugins.IsRunnerManifest(args[0]) {
				digest, err := plugins.SealRunner(args[0])
				if err == nil {
					fmt.Fprintf(a.out, "%s  %s\n", digest, printable(args[0]))
				}
				return err
			}
			digest, err := wasm.Seal(args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "%s  %s\n", digest, printable(wasm.ManifestFile(args[0])))
			return nil
		},
	}
}

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
		rows[i] = []string{r.Name, r.Version, r.SHA256[:12], fmt.Sprint(r.Interface), state, r.Program,
			r.File}
	}
	return writeTable(a.out, []string{"RUNNER", "VERSION", "SHA256", "PROTOCOL", "STATE", "PROGRAM", "FILE"},
		rows)
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
		{"program", r.Program}, {"sha256", r.SHA256}, {"protocol", fmt.Sprint(r.Interface)},
		{"command", strings.Join(r.Command, " ")},
		{"isolation", r.Isolation}, {"network", r.Network}, {"state", state},
	})
}
