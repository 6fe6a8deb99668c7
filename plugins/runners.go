package plugins

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"

	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/runners/command"
)

// RunnerPlugin is an installed runner: a manifest, and the problem of its program.
type RunnerPlugin struct {
	Kind      string   `json:"kind"` // "runner"
	Name      string   `json:"name"`
	Version   string   `json:"version"`
	Interface int      `json:"interface"`
	SHA256    string   `json:"sha256"`
	Command   []string `json:"command"`
	Program   string   `json:"program"`
	Isolation string   `json:"isolation"`
	Network   string   `json:"network"`
	File      string   `json:"file"`
	Problem   string   `json:"problem"` // why it is not started; "" when it is
}

// RunnerPlugins reads the manifests of the runners of a configuration, and compares their programs with them.
// It starts nothing.
func RunnerPlugins(l *config.Loaded) ([]RunnerPlugin, error) {
	var all []RunnerPlugin
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(l.Runners)) {
		if file := string(l.Runners[name].Plugin); file != "" {
			p, err := InspectRunner(file)
			all, errs = append(all, p), append(errs, err)
		}
	}
	return all, errors.Join(errs...)
}

// InspectRunner reads one manifest and compares the program with it.
func InspectRunner(file string) (RunnerPlugin, error) {
	p, err := command.LoadPlugin(file)
	if err != nil {
		return RunnerPlugin{}, err
	}
	r := RunnerPlugin{
		Kind: "runner", Name: p.Name, Version: p.Version, Interface: p.Interface, SHA256: p.SHA256,
		Command: p.Command,
		Program: p.Program, Isolation: p.Isolation, Network: p.Network, File: p.File,
	}
	if err := p.Verify(); err != nil {
		r.Problem = err.Error()
	}
	return r, nil
}

// IsRunnerManifest reports whether a file is, by its name, the manifest of a runner and not a module.
func IsRunnerManifest(file string) bool {
	return slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(file))
}

// SealRunner writes the digest of a runner's program into its manifest, and returns it.
func SealRunner(file string) (string, error) { return command.SealPlugin(file) }
