package commands

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// exempting are the flags with which a rule is silent. Rows of an operator's own may not give them to a
// command that the table has.
var exempting = []string{"dry_run", "interactive", "moves", "lists_names", "in_place", "remote"}

// With returns a table that has rows besides those of t. A name that t does not have may say anything. Of a
// command that t has, a row may add effects and flags, new subcommands and new options without a value; it
// may neither repeat the table nor give it a flag with which a rule is silent.
func (t *Table) With(rows map[string]Row) (*Table, error) {
	out := &Table{builtin: t.builtin, added: maps.Clone(t.added)}
	if out.added == nil {
		out.added = map[string][]*Entry{}
	}
	for _, names := range slices.Sorted(maps.Keys(rows)) {
		row := rows[names]
		if row.Like != "" && (out.Find(row.Like) == nil || rows[row.Like].Like != "") {
			return nil, fmt.Errorf("%s: there is no row %q to be like: name a command of the table", names, row.Like)
		}
		e := own(strings.Split(names, ", "), row)
		e.siblings = func(name string) *Entry { return t.Find(name)[0] }
		for _, name := range e.Names {
			if len(t.Find(name)) > 0 {
				if err := t.tightens(name, row); err != nil {
					return nil, err
				}
			}
			out.added[name] = append(slices.Clone(out.added[name]), e)
		}
	}
	return out, nil
}

// own makes an entry of a row that is already read.
func own(names []string, row Row) *Entry {
	e := &Entry{Names: names, row: row, known: true}
	for _, sub := range slices.Sorted(maps.Keys(row.Subcommands)) {
		e.subs = append(e.subs, own(strings.Split(sub, ", "), row.Subcommands[sub]))
	}
	e.row.Subcommands = nil
	for _, s := range e.subs {
		s.siblings = e.sub
	}
	return e
}

// tightens reports an error where a row says more of a command of the table than that it does more.
func (t *Table) tightens(name string, row Row) error {
	shaped := row.Runs != nil || row.Packages != nil || row.Kube != nil || row.Stores != nil ||
		row.SSH || row.Words != nil || row.When != nil
	if row.Like+row.Style+row.Hook+row.Last != "" || len(row.Operands) > 0 || shaped {
		return fmt.Errorf("%s: the table has this command: "+
			"a row may add does, subcommands and options without a value", name)
	}
	if err := t.addsOnly(name, nil, row); err != nil {
		return err
	}
	for words, sub := range row.Subcommands {
		if sub.When != nil {
			return fmt.Errorf("%s %s: the table has this command: a row may not say when it does less", name, words)
		}
		for one := range strings.SplitSeq(words, ", ") {
			if known := t.subcommand(name, one); known != nil {
				if len(sub.Operands) > 0 || sub.Like+sub.Style+sub.Hook+sub.Last != "" {
					return fmt.Errorf("%s %s: the table has this subcommand: a row may add does", name, one)
				}
				if err := t.addsOnly(name+" "+one, known, sub); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (t *Table) addsOnly(name string, known *Entry, row Row) error {
	for _, flag := range exempting {
		if slices.Contains(strings.Fields(row.Does), flag) {
			return fmt.Errorf("%s: a row may not add %s to a command of the table: rules would be silent", name, flag)
		}
	}
	for names, o := range row.Options {
		if o.Value+o.Attached+o.Replaces != "" || o.Ends {
			return fmt.Errorf("%s %s: a row may not add an option with a value to a command of the table", name, names)
		}
		for _, flag := range exempting {
			if slices.Contains(strings.Fields(o.Does), flag) {
				return fmt.Errorf("%s %s: a row may not add %s to a command of the table: rules would be silent",
					name, names, flag)
			}
		}
		for option := range strings.SplitSeq(names, ", ") {
			if t.hasOption(name, known, option) {
				return fmt.Errorf("%s: the table has the option %s", name, option)
			}
		}
	}
	return nil
}

func (t *Table) hasOption(name string, sub *Entry, option string) bool {
	if sub != nil {
		row, _, _ := sub.Row()
		return hasOption(row, option)
	}
	return slices.ContainsFunc(t.Find(name), func(e *Entry) bool {
		row, _, _ := e.Row()
		return hasOption(row, option)
	})
}

func hasOption(row Row, option string) bool {
	for names := range row.Options {
		if slices.Contains(strings.Split(names, ", "), option) {
			return true
		}
	}
	return false
}

func (t *Table) subcommand(name, words string) *Entry {
	for _, e := range t.Find(name) {
		if _, _, err := e.Row(); err == nil {
			if sub := e.sub(words); sub != nil {
				return sub
			}
		}
	}
	return nil
}
