package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Warnings lists the risks of a valid configuration: other users with write access, and wide grants. They are
// for a person to weigh; nothing is refused.
func (l *Loaded) Warnings() []string {
	out := l.exposed()
	wide := l.TooWide()
	if wide != "" {
		out = append(out, wide)
	}
	for _, r := range l.Layout().Roots {
		if r.Path == l.there() && wide != "" {
			continue
		}
		if r.Write && (holds(r.Path, l.host.Home) || r.Path == "/") {
			out = append(
				out, fmt.Sprintf(
					"%s is granted for writing and holds the home directory or all of the machine: grant a smaller place",
					r.Path))
		}
	}
	if l.Mode == "monitor" {
		out = append(out, "mode is monitor: everything is recorded and nothing is refused")
	}
	if served := l.Servers(); len(l.PolicyKeys) == 0 &&
		slices.ContainsFunc(served, func(s Served) bool { return len(s.Bundles) > 0 || s.Discovery != "" }) {
		out = append(out,
			"policies come from servers and policy_keys are not set: the owner of a server decides about all "+
				"commands: sign the bundles and name the key")
	}
	if l.Environment.PassAll {
		out = append(out,
			"environment.pass_all gives commands every variable of sallyport's own environment, secrets included: "+
				"name what they need under environment.env")
	}
	for _, p := range l.Ignored {
		out = append(
			out, fmt.Sprintf(
				"%s is not read: a configuration in the workspace could come from the agent: name it with --config if "+
					"it is yours", p))
	}
	return out
}

// system are directories that belong to the operating system, by hier(7).
var system = []string{"/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/sbin", "/sys", "/usr",
	"/var"}

// TooWide says why commands cannot work in this workspace: sallyport was started in a home directory, in a
// directory of the system or at its root, and the configuration does not name that directory. It is "" for a
// workspace that can be used.
func (l *Loaded) TooWide() string {
	w := l.there()
	if r, ok := l.Elsewhere(); !l.unnamed || ok && r.Workspace != "" {
		return ""
	}
	what := ""
	for _, p := range []string{w, real(w)} {
		switch {
		case p == filepath.Dir(p):
			what = "is the root of the file system"
		case real(p) == real(l.host.Home):
			what = "is your home directory"
		case holds(p, l.host.Home):
			what = "contains your home directory"
		case p == "/root", slices.Contains([]string{"/home", "/Users"}, filepath.Dir(p)):
			what = "is a home directory"
		case slices.Contains(system, p):
			what = "is a directory of the system"
		}
	}
	if what == "" {
		return ""
	}
	return fmt.Sprintf(
		"%s %s, and agents could write to all of it: change to a project directory, or set `workspace` in the "+
			"configuration", w, what)
}

// exposed says which of the places that hold an agent could be changed by others or by commands.
func (l *Loaded) exposed() []string {
	var out []string
	shared := func(p string) {
		if who := writableByOthers(p); who != "" {
			out = append(out, fmt.Sprintf("%s is writable by %s: they could change the decisions: chmod go-w %s", p,
				who, p))
		}
	}
	within := func(p, what, instead string) {
		for _, r := range l.Layout().Roots {
			if r.Write && holds(r.Path, p) {
				out = append(out, fmt.Sprintf("%s lies in %s, which commands may write%s: move it out%s", p, r.Path, what,
					instead))
			}
		}
	}
	if l.File != "" {
		shared(l.File)
		shared(filepath.Dir(l.File))
		instead := ", for example to " + UserFile(l.host)
		if l.File == UserFile(l.host) {
			instead = ", or grant a smaller place"
		}
		within(l.File, "", instead)
	}
	for _, p := range l.Policies {
		if filepath.IsAbs(p) {
			shared(p)
			within(p, "", "")
		}
	}
	for _, p := range l.PolicyKeys {
		shared(string(p))
		within(string(p), "", "")
	}
	for _, s := range l.PolicyServers {
		for _, p := range []Path{s.TokenFile, s.CAFile, s.CertFile, s.KeyFile} {
			if p != "" {
				shared(string(p))
				within(string(p), "", "")
			}
		}
	}
	for _, p := range l.Plugins {
		shared(string(p))
		shared(filepath.Dir(string(p)))
		within(string(p), "", "")
	}
	within(string(l.Environment.EnvFile), ": they could change their own environment", "")
	within(string(l.Audit.Dir), ": they could change the record", "")
	return out
}

// holds reports whether p is dir or lies in it, by name or in reality.
func holds(dir, p string) bool {
	if p == "" {
		return false
	}
	return dir == p || below(p, dir) || below(real(p), real(dir)) || real(p) == real(dir)
}

// writableByOthers names the users besides the owner that could change p by its mode bits; "" for none. A
// directory with the sticky bit keeps others from replacing files of the owner.
func writableByOthers(p string) string {
	info, err := os.Stat(p)
	if err != nil || info.IsDir() && info.Mode()&os.ModeSticky != 0 {
		return ""
	}
	return writers(info)
}
