package local

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/runners/envfile"
	"github.com/sallyport-dev/sallyport/runners/supervisor"
)

// baseEnv builds the environment that all commands have in common: the allow-listed variables of
// the host, over them the environment file, over all the shell.
func baseEnv(opts Options, shell supervisor.Shell) ([]string, error) {
	env := []string{"PATH=" + defaultPath}
	for _, kv := range opts.Host {
		if name, value, ok := strings.Cut(kv, "="); ok && opts.inherits(name) {
			env = set(env, name, value)
		}
	}
	env, err := withFile(env, opts)
	if err != nil {
		return nil, err
	}
	env = set(env, "SHELL", shell.Path)
	slices.Sort(env)
	return env, nil
}

// withFile adds the environment file.
func withFile(env []string, opts Options) ([]string, error) {
	if opts.EnvFile == "" {
		return env, nil
	}
	values, err := envfile.Read(opts.EnvFile, opts.EnvFileNames)
	if err != nil {
		return nil, err
	}
	for name, value := range values {
		env = set(env, name, value)
	}
	return env, nil
}

// Given returns the variables that the operator gives to commands by name or in a file, for an
// environment that is not of this machine and has the usual ones itself.
func Given(opts Options) ([]string, error) {
	var env []string
	for _, kv := range opts.Host {
		if name, value, ok := strings.Cut(kv, "="); ok && slices.Contains(opts.Env, name) {
			env = set(env, name, value)
		}
	}
	env, err := withFile(env, opts)
	slices.Sort(env)
	return env, err
}

// inherits reports whether commands get a variable of the host.
func (o Options) inherits(name string) bool {
	same := func(s string) bool { return sameName(s, name) }
	return name != "" && (o.PassAll || strings.HasPrefix(name, "LC_") ||
		slices.ContainsFunc(inherited(), same) || slices.ContainsFunc(o.Env, same))
}

// set gives a variable a value, in place of the one it had.
func set(env []string, name, value string) []string {
	return append(unset(env, name), name+"="+value)
}

func unset(env []string, name string) []string {
	return slices.DeleteFunc(env, func(kv string) bool {
		n, _, _ := strings.Cut(kv, "=")
		return sameName(n, name)
	})
}

func valueOf(env []string, name string) string {
	for _, kv := range env {
		if n, v, ok := strings.Cut(kv, "="); ok && sameName(n, name) {
			return v
		}
	}
	return ""
}
