package config

import (
	"cmp"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Elsewhere returns the settings of the runner in use, if it is one of the operator's own.
func (l *Loaded) Elsewhere() (Remote, bool) {
	r, ok := l.Runners[l.Runner]
	return r, ok
}

// there is the workspace as the runner in use knows it.
func (l *Loaded) there() string {
	if r, ok := l.Elsewhere(); ok && r.Workspace != "" {
		return path.Clean(r.Workspace)
	}
	return string(l.Workspace)
}

// runners checks the operator's own runners, fills in their defaults, and checks that the one in use is
// there.
func (c checker) runners() {
	known := BuiltinRunners()
	for _, name := range slices.Sorted(maps.Keys(c.l.Runners)) {
		key, r := "runners."+name, c.l.Runners[name]
		switch {
		case slices.Contains(known, name):
			c.problem(key, "%s is a runner of sallyport's own: choose another name", name)
		case !runnerName.MatchString(name):
			c.problem(key, "%q is not a name: lower case letters, digits, \"_\" and \"-\", at most 64", name)
		case c.bad(key):
		case r.Plugin != "" && len(r.Command) > 0:
			c.problem(key+".plugin", "it has a command line of its own: name either a plugin, with args, or a command")
		case r.Plugin == "" && len(r.Args) > 0:
			c.problem(key+".args", "they are for a plugin: write them into the command line")
		case r.Plugin == "" && (len(r.Command) == 0 || r.Command[0] == ""):
			c.problem(key+".command", "the command line is empty")
		case slices.ContainsFunc(slices.Concat(r.Command, r.Args),
			func(word string) bool { return strings.Contains(word, "\x00") }):
			c.problem(key+".command", "it holds a NUL byte")
		case r.Plugin == "" && strings.ContainsAny(r.Command[0], `/\`) && !filepath.IsAbs(r.Command[0]):
			// A relative path would often lead to a place that an agent may write to.
			c.problem(key+".command[0]", "%q is neither a name nor an absolute path", r.Command[0])
		}
		if r.Plugin == "" { // a plugin's manifest may have it
			r.Isolation, r.Network = cmp.Or(r.Isolation, "remote"), cmp.Or(r.Network, "unknown")
		}
		c.l.Runners[name] = r
		if r.Workspace != "" && !path.IsAbs(r.Workspace) {
			c.problem(key+".workspace", "%q is not an absolute path", r.Workspace)
		}
	}
	known = append(known, slices.Sorted(maps.Keys(c.l.Runners))...)
	if !slices.Contains(known, c.l.Runner) && !c.bad("runner") {
		c.problem("runner", "no runner named %q%s", c.l.Runner, didYouMean(c.l.Runner, known))
	}
}
