package engine

import (
	"fmt"
	"path/filepath"
	"strings"
)

// The kinds of a Change.
const (
	Created = "created"
	Changed = "changed" // its content, mode or times
	Written = "written" // something was moved to its name: it may have been there before
	Removed = "removed"
)

// Change is a file that was changed while a command ran.
type Change struct {
	Path   string `json:"path"`
	What   string `json:"what"`
	Mode   string `json:"mode,omitempty"` // as ls(1) shows it
	Link   string `json:"link,omitempty"` // the target of a symbolic link
	Size   int64  `json:"size,omitempty"`
	SHA256 string `json:"sha256,omitempty"` // hex; "" for one that is long, or not among the first
	Texts  *Texts `json:"-"`                // of a trial; nil where they are not kept
}

// Texts are the contents of a text file before and after a change, "" where there is no file.
type Texts struct{ Before, After string }

// Changes are the files that were changed while a command ran: by it, by another one at the same time, or
// by a person.
type Changes struct {
	Created int      `json:"created"`
	Changed int      `json:"changed"`
	Written int      `json:"written"`
	Removed int      `json:"removed"`
	Whole   bool     `json:"whole"`          // there are no others
	List    []Change `json:"list,omitempty"` // the first of them, removed ones before others
}

// Count counts a change of a kind.
func (c *Changes) Count(what string) {
	switch what {
	case Created:
		c.Created++
	case Changed:
		c.Changed++
	case Written:
		c.Written++
	case Removed:
		c.Removed++
	}
}

// shownChanges bounds the files that String names, besides removed ones, and maxRemoved these.
const (
	shownChanges = 5
	shownRemoved = 20
)

// String describes the changes in one line, by names relative to a directory; "" for none.
func (c Changes) String(dir string) string {
	var parts []string
	for _, kind := range []struct {
		what  string
		count int
		most  int
	}{
		{Removed, c.Removed, shownRemoved}, {Written, c.Written, shownChanges},
		{Changed, c.Changed, shownChanges}, {Created, c.Created, shownChanges},
	} {
		if kind.count == 0 {
			continue
		}
		var names []string
		for _, one := range c.List {
			if one.What == kind.what && len(names) < kind.most {
				names = append(names, one.name(dir))
			}
		}
		if kind.count > len(names) {
			names = append(names, "…")
		}
		parts = append(parts, fmt.Sprintf("%s %d (%s)", kind.what, kind.count, strings.Join(names, ", ")))
	}
	if len(parts) > 0 && !c.Whole {
		parts = append(parts, "perhaps others")
	}
	return strings.Join(parts, "; ")
}

// Lines describes at most some changes, one on each line, and says how many more there are.
func (c Changes) Lines(most int) (lines []string) {
	for i, one := range c.List {
		if i == most {
			return append(lines, fmt.Sprintf("and %d more", len(c.List)-i))
		}
		name, size := one.Path, ""
		switch {
		case one.Link != "":
			name += " -> " + one.Link
		case one.isDir():
			name += "/"
		case one.What != Removed:
			size = fmt.Sprintf("%d B", one.Size)
		}
		lines = append(lines, fmt.Sprintf("%-8s %-10s %9s  %s", one.What, one.Mode, size, name))
	}
	return lines
}

func (c Change) name(dir string) string {
	name := c.Path
	if rel, err := filepath.Rel(dir, c.Path); err == nil && filepath.IsLocal(rel) {
		name = rel
	}
	switch {
	case c.Link != "":
		return name + " -> " + c.Link
	case strings.Contains(c.Mode, "x") && c.What != Removed:
		return name + " [" + c.Mode + "]"
	}
	return name
}
