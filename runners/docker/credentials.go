package docker

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/runners/envfile"
)

// Credentials are the parts of the operator's identity that commands in a container get.
type Credentials struct {
	Mount        []string // kinds: see credentialPlaces
	EnvFile      string   // file of NAME=value lines; "" for none
	EnvFileNames []string // names to take from the file; empty for all
	Env          []string // names of variables of this process
	PassAll      bool     // all of them that do not say where things are here
}

// place is where a kind of credential lies, below the home directory here and there.
type place struct {
	path string
	dir  bool
}

func credentialPlaces() map[string]place {
	return map[string]place{
		"ssh_keys":      {".ssh", true},
		"git_config":    {".gitconfig", false},
		"gh_config":     {".config/gh", true},
		"npm_config":    {".npmrc", false},
		"pypi_config":   {".pypirc", false},
		"claude_config": {".claude", true},
		"codex_config":  {".codex", true},
		"gemini_config": {".gemini", true},
	}
}

// Grant returns the options with credentials added: mounts, read-only and in the home directory of the
// commands' user, and variables. A single variable overrides a named list, and that overrides the file.
// Unavailable credentials are skipped: warnings say so, and never contain a value.
func (o Options) Grant(c Credentials, workspace string) (_ Options, warnings []string, err error) {
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	o.Mounts, o.Given = slices.Clone(o.Mounts), slices.Clone(o.Given)
	for _, kind := range c.Mount {
		m, err := o.credential(kind)
		if err != nil {
			warn("docker.credentials.mount: %s is left out: %s", kind, err)
			continue
		}
		o.Mounts = append(o.Mounts, m)
		if user, err := userOf(o.User, workspace); err == nil && !readableBy(m.Source, user.UID, user.GID) {
			warn(
				"docker.credentials.mount: %s: commands run as user %d and cannot read %s: name its owner under "+
					"docker.user", kind, user.UID, m.Source)
		}
	}
	vars, missing, err := c.variables(o.Environ)
	if err != nil {
		return o, warnings, err
	}
	for _, name := range missing {
		warn("docker.credentials: the variable %s is not there and is left out", name)
	}
	if c.PassAll {
		warn("docker.credentials.pass_all: commands get these variables with whatever secrets are in them: %s",
			strings.Join(slices.Sorted(maps.Keys(vars)), ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		o.Given = slices.DeleteFunc(o.Given, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
		o.Given = append(o.Given, name+"="+vars[name])
	}
	return o, warnings, nil
}

// credential finds one kind. A link is followed once: the mount shows its present target.
func (o Options) credential(kind string) (Mount, error) {
	p, ok := credentialPlaces()[kind]
	if !ok {
		return Mount{}, errors.New("there is no such kind")
	}
	if !filepath.IsAbs(o.Home) {
		return Mount{}, errors.New("there is no home directory to take it from")
	}
	source, err := filepath.EvalSymlinks(filepath.Join(o.Home, filepath.FromSlash(p.path)))
	if errors.Is(err, fs.ErrNotExist) {
		return Mount{}, fmt.Errorf("~/%s is not there", p.path)
	}
	if err != nil {
		return Mount{}, err
	}
	info, err := os.Stat(source)
	if err != nil {
		return Mount{}, err
	}
	if info.IsDir() != p.dir || !p.dir && !info.Mode().IsRegular() {
		return Mount{}, fmt.Errorf("~/%s is a %s", p.path,
			map[bool]string{true: "directory and no file", false: "file and no directory"}[info.IsDir()])
	}
	if rel, err := filepath.Rel(source, o.Home); err == nil && filepath.IsLocal(rel) {
		return Mount{}, fmt.Errorf("~/%s leads to %s, which holds the whole home directory", p.path, source)
	}
	return Mount{Source: source, Target: path.Join(home, p.path), Given: true}, nil
}

// variables are those that commands get, and the names that were asked for and not found.
func (c Credentials) variables(environ []string) (vars map[string]string, missing []string, err error) {
	vars = map[string]string{}
	if c.EnvFile != "" {
		if vars, err = envfile.Read(c.EnvFile, c.EnvFileNames); err != nil {
			return nil, nil, err
		}
		for _, name := range c.EnvFileNames {
			if _, ok := vars[name]; !ok {
				missing = append(missing, name)
			}
		}
	}
	here := map[string]string{}
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok && envfile.ValidName(name) {
			here[name] = value
		}
	}
	if c.PassAll {
		for name, value := range here {
			if !ofThisMachine(name) && !aFileHere(value) {
				vars[name] = value
			}
		}
	}
	for _, name := range c.Env {
		if value, ok := here[name]; ok {
			vars[name] = value
		} else {
			missing = append(missing, name)
		}
	}
	return vars, missing, nil
}

// aFileHere reports whether a value names a file of this machine, such as a list of certificates: it would
// lead nowhere.
func aFileHere(value string) bool {
	return filepath.IsAbs(value) && exists(value)
}

// ofThisMachine reports variables that describe this machine and would mislead a command elsewhere, and those
// that would make it run another program. An operator who wants one of them names it.
func ofThisMachine(name string) bool {
	switch name {
	case "PATH", "HOME", "PWD", "OLDPWD", "SHLVL", "_", "SHELL", "USER", "LOGNAME", "USERNAME", "HOSTNAME",
		"HOST", "MAIL", "TMPDIR", "TMP", "TEMP", "EDITOR",
		"VIRTUAL_ENV", "PYTHONHOME", "PYTHONPATH", "NODE_PATH", "NPM_CONFIG_PREFIX", "GOPATH", "GOROOT",
		"JAVA_HOME", "CARGO_HOME", "RUSTUP_HOME", "MANPATH", "INFOPATH",
		"DISPLAY", "WAYLAND_DISPLAY", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY",
		"GPG_AGENT_INFO", "GNUPGHOME":
		return true
	}
	for _, prefix := range []string{"XDG_", "DBUS_", "DOCKER_", "CONDA_", "SALLYPORT_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return envfile.Hijacks(name)
}
