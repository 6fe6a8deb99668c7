package facts

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// PathLabel is a name that the operator gives to files, and to their copies within a session.
type PathLabel struct {
	Name     string
	Patterns []string // absolute; ** stands for any number of names, and all below a match has the label, too
}

// operatorLabels are the operator's labels of the files that a touch reaches: by their places, and as copies.
func (w *build) operatorLabels(s *spot, t touch) []string {
	found := map[string]bool{}
	reached := append([]string{s.path, s.real}, s.targets...)
	all := t.recursive || s.certainty != value.Exact || s.glob && !s.whole
	for _, p := range reached {
		if p == "" || t.filter != "" && !all {
			continue
		}
		for name := range w.carried {
			if within(p, name) || all && within(name, p) {
				add(found, w.carried[name])
			}
		}
		if w.history != nil {
			add(found, w.history.Labels(p, all))
		}
		for _, l := range w.layout.Labels {
			matches := func(pattern string) bool { return w.labels(pattern, p, t, all) }
			if slices.ContainsFunc(l.Patterns, matches) {
				found[l.Name] = true
			}
		}
	}
	return sorted(found)
}

func add(set map[string]bool, names []string) {
	for _, name := range names {
		set[name] = true
	}
}

// labels reports whether a pattern matches a path or a directory around it, or with all something below it.
func (w *build) labels(pattern, p string, t touch, all bool) bool {
	names := strings.Split(strings.Trim(pattern, "/"), "/")
	split := func(p string) []string { return strings.FieldsFunc(p, func(r rune) bool { return r == '/' }) }
	if covers(names, split(p)) {
		return true
	}
	if !all || !approaches(names, split(p)) {
		return false
	}
	hit := false
	whole := w.walk(p, func(at string, e fs.DirEntry) bool {
		hit = hit || covers(names, split(at)) && (e.IsDir() || t.filter == "" || matchName(t.filter, e.Name()))
		return !hit
	})
	return hit || !whole
}

// covers reports whether a pattern matches a path or a directory around it.
func covers(pattern, names []string) bool {
	switch {
	case len(pattern) == 0:
		return true
	case pattern[0] == "**":
		for i := range len(names) + 1 {
			if covers(pattern[1:], names[i:]) {
				return true
			}
		}
		return false
	case len(names) == 0:
		return false
	}
	return matchName(pattern[0], names[0]) && covers(pattern[1:], names[1:])
}

// approaches reports whether something below a path may match a pattern.
func approaches(pattern, names []string) bool {
	if len(pattern) == 0 || len(names) == 0 || pattern[0] == "**" {
		return true
	}
	return matchName(pattern[0], names[0]) && approaches(pattern[1:], names[1:])
}

// Carried tells which files have the operator's labels after a request has run: the output files of commands
// that read or move files with labels, or take the output of one that does.
func Carried(in *Input) map[string][]string {
	out := map[string][]string{}
	for i := range in.Commands {
		maps.Copy(out, carriedBy(in, i))
	}
	return out
}

// carries notes the labels of the files that a command writes, and of the commands around it.
func (w *build) carries(command int) {
	maps.Copy(w.carried, carriedBy(w.in, command))
	c := &w.in.Commands[command]
	labels := map[string]bool{}
	for _, p := range pathsOf(w.in, c) {
		if p.brings(c) {
			add(labels, p.OperatorLabels)
		}
	}
	for i := 0; i < command && len(labels) > 0; i++ {
		outer := &w.in.Commands[i]
		if !outer.meets(c) {
			continue
		}
		for _, p := range pathsOf(w.in, outer) {
			if p.Access == "write" && p.Certainty == "exact" && p.Real != "" {
				add(labels, w.carried[p.Real])
				w.carried[p.Real] = sorted(labels)
			}
		}
	}
}

// meets reports whether a command stands in another, such as that of a substitution or of inline code.
func (c *Command) meets(other *Command) bool {
	a, b := c.Span, other.Span
	return a.Start <= b.Start && b.End <= a.End || b.Start <= a.Start && a.End <= b.End
}

func carriedBy(in *Input, command int) map[string][]string {
	out := map[string][]string{}
	labels := map[string]bool{}
	var sources []*Path
	for i := range in.Commands {
		c := &in.Commands[i]
		if !slices.Contains(in.Commands[command].Inputs, i) && !c.meets(&in.Commands[command]) {
			continue
		}
		for _, p := range pathsOf(in, c) {
			if len(p.OperatorLabels) > 0 && p.brings(c) {
				add(labels, p.OperatorLabels)
				if i == command {
					sources = append(sources, p)
				}
			}
		}
	}
	if len(labels) == 0 {
		return out
	}
	c := &in.Commands[command]
	for _, p := range pathsOf(in, c) {
		if p.Access != "write" || p.Certainty != "exact" || p.Real == "" {
			continue
		}
		if p.Type != "dir" || !slices.Contains(copiers, c.Name) || len(sources) == 0 {
			out[p.Real] = sorted(labels)
			continue
		}
		for _, from := range sources { // into a directory, under their own names
			if from.Glob || from.Certainty != "exact" {
				out[p.Real] = sorted(labels)
				break
			}
			out[path.Join(p.Real, path.Base(from.Path))] = sorted(labels)
		}
	}
	return out
}

var copiers = []string{"cp", "gcp", "mv", "gmv", "install", "ln", "gln", "git"}

// brings reports whether a command takes the content of a path along.
func (p *Path) brings(c *Command) bool {
	switch p.Access {
	case "read":
		return !slices.Contains(p.Labels, labelNames[labelMetadata]) || c.Name == "ln" || c.Name == "gln"
	case "delete":
		return slices.Contains(c.Flags, flagNames[flagMoves])
	}
	return false
}

func pathsOf(in *Input, c *Command) []*Path {
	var list []*Path
	for _, i := range c.Paths {
		if i >= 0 && i < len(in.Paths) {
			list = append(list, &in.Paths[i])
		}
	}
	return list
}
