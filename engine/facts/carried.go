package facts

import (
	"maps"
	"path"
	"slices"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
)

// PathLabel is a name that the operator gives to files, and to their copies within a session.
type PathLabel struct {
	Name     string
	Patterns []string // absolute; ** stands for any number of names, and all below a match has the label, too
}

func add(set map[string]bool, names []string) {
	for _, name := range names {
		set[name] = true
	}
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

// Carry adds to carried the labels of the files that a command writes, and those of the commands around it.
func Carry(in *Input, command int, carried map[string][]string) {
	maps.Copy(carried, carriedBy(in, command))
	c := &in.Commands[command]
	labels := map[string]bool{}
	for _, p := range pathsOf(in, c) {
		if p.brings(c) {
			add(labels, p.OperatorLabels)
		}
	}
	for i := 0; i < command && len(labels) > 0; i++ {
		outer := &in.Commands[i]
		if !outer.meets(c) {
			continue
		}
		for _, p := range pathsOf(in, outer) {
			if p.Access == "write" && p.Certainty == "exact" && p.Real != "" {
				add(labels, carried[p.Real])
				carried[p.Real] = Sorted(labels)
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
		if p.Type != "dir" || !commands.Listed("copiers", c.Name) || len(sources) == 0 {
			out[p.Real] = Sorted(labels)
			continue
		}
		for _, from := range sources { // into a directory, under their own names
			if from.Glob || from.Certainty != "exact" {
				out[p.Real] = Sorted(labels)
				break
			}
			out[path.Join(p.Real, path.Base(from.Path))] = Sorted(labels)
		}
	}
	return out
}

// brings reports whether a command takes the content of a path along.
func (p *Path) brings(c *Command) bool {
	switch p.Access {
	case "read":
		links := c.Name == "ln" || c.Name == "gln"
		return links || !slices.Contains(p.Labels, term.LabelNames[term.LabelMetadata])
	case "delete":
		return slices.Contains(c.Flags, term.FlagNames[term.FlagMoves])
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
