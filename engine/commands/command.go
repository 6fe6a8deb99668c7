package commands

import (
	"maps"
	"slices"
	"strings"
)

// Command joins all rows of a command: its options, and the commands and programs that it runs.
type Command struct {
	Runs     *Runs             // nil where it runs nothing else
	Packages *Packages         // nil where it handles none
	Kube     *Kube             // nil where it chooses no cluster
	Stores   *Stores           // nil where it stores no setting that starts a program
	SSH      bool              // it reaches its hosts by ssh, with the user's settings
	Filter   bool              // it prints its words and its input, changed or not, and nothing else
	Holds    []string          // options, or words, behind which a command stands that it runs
	Includes []string          // words of its own language behind which a file stands that it reads
	Hands    map[string]string // commands that get words of it, by the options in front of those
	Style    string
	options  map[string]Option // by a name with its dashes
}

// Command returns the joined rows of a name, nil where there are none. A row that cannot be read counts as
// none.
func (t *Table) Command(name string) *Command {
	rows := t.Find(name)
	if rows == nil {
		return nil
	}
	if c, ok := t.commands.Load(name); ok {
		return c.(*Command)
	}
	c := &Command{options: map[string]Option{}}
	for _, e := range rows {
		row, _, err := e.Row()
		if err != nil {
			return nil
		}
		c.Style += row.Style
		c.Holds = append(c.Holds, row.Holds...)
		c.Includes = append(c.Includes, row.Includes...)
		if row.Hands != nil {
			c.Hands = row.Hands
		}
		c.Filter = c.Filter || row.Filter
		if row.Runs != nil {
			c.Runs = row.Runs
		}
		if row.Packages != nil {
			c.Packages = row.Packages
		}
		c.SSH = c.SSH || row.SSH
		if row.Stores != nil {
			c.Stores = row.Stores
		}
		if row.Kube != nil {
			c.Kube = row.Kube
		}
		for names, o := range row.Options {
			for name := range strings.SplitSeq(names, ", ") {
				c.options[name] = o
			}
		}
	}
	t.commands.Store(name, c)
	return c
}

// Find returns an option by its name, or by the beginning of a long name that is shortened. Of several that a
// shortened name may mean, one that takes a value counts.
func (c *Command) Find(name string) (full string, o Option, ok bool) {
	if o, ok := c.options[name]; ok {
		return name, o, true
	}
	if len(name) < 4 || !strings.HasPrefix(name, "--") || c.Style == "single-dash" {
		return name, o, false
	}
	for _, long := range slices.Sorted(maps.Keys(c.options)) {
		if strings.HasPrefix(long, name) && (!ok || o.Arity() < c.options[long].Arity()) {
			full, o, ok = long, c.options[long], true
		}
	}
	return full, o, ok
}

// Arity says where the value of an option stands.
func (c *Command) Arity(name string) Arity {
	if _, o, ok := c.Find(name); ok {
		return o.Arity()
	}
	return Unknown
}

// Names lists the names of all options.
func (c *Command) Names() []string { return slices.Sorted(maps.Keys(c.options)) }

// Options lists the options whose value is of a kind, by their names in order.
func (c *Command) Options(kind string) []string {
	var list []string
	for name, o := range c.options {
		if o.Kind() == kind {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// Carries reports that a command runs another one, not only a language.
func (r *Runs) Carries() bool {
	return r.Command || r.Shape != "" || r.Skip > 0 || r.Assignments || r.Joined || r.Each || r.Versioned ||
		r.Elevated || r.Away || r.Background || r.Prefix+r.Script != "" ||
		len(r.Verbs)+len(r.Others)+len(r.Behind) > 0
}

// Kind is the first word of the kind of its value, "" where it takes none.
func (o Option) Kind() string {
	kind, _, _ := strings.Cut(o.Value+o.Attached, " ")
	return kind
}
