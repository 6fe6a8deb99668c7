package facts

import (
	"fmt"
	"strings"
	"sync"
)

// row is one line of command knowledge. The table_*.go files are nothing but rows, so that
// what is known about a command can be read, and extended, in one place:
//
//	cmd    names that share the row, separated by spaces
//	sub    subcommands that share it, separated by commas: "push", "volume rm,volume prune";
//	       "" for the command itself. What the command itself always does, its subcommands do too.
//	does   effects and flags that every call has: "network remote"
//	args   roles of the operands, separated by commas; the last one goes for all further ones.
//	       A leading ">" marks the role of the last operand when there are two or more.
//	opts   options, separated by semicolons: "NAMES [=ROLE] [> WORDS]". "-rR" names two short
//	       options. "=ROLE" takes a value, "=?ROLE" only an attached one. WORDS are effects,
//	       flags and directives: @first (no special first operand any more), @last (no special
//	       last one), @stop (what follows is another program's).
//	style  how options are spelled
//	hook   what no row can say; it runs after the options and operands are read
//
// A role is a word of role.word with any of the marks !, *, ?, ~ and | behind it (see role).
type row struct {
	cmd, sub, does, args, opts string
	style                      style
	hook                       func(*call)
}

// style is how a command spells its options.
type style uint8

const (
	styleGNU    style = iota // -a -bc --long --long=value, abbreviations of long names
	styleLong                // -name value, --name=value: find, terraform, openssl, java
	styleNone                // no options: every word is an operand
	styleGlobal              // as styleGNU; the options are understood behind a subcommand, too
)

// role says what an operand or an option's value is.
type role struct {
	word      string
	access    access
	ofLink    bool // !  the link itself, not what it points to
	recursive bool // *  everything below as well
	metadata  bool // ?  names, sizes and modes, not content
	remote    bool // ~  HOST:PATH names a place elsewhere
	stop      bool // |  options end here: the rest belongs to what this names
}

// access is a set of ways to touch a path.
type access uint8

const (
	reads access = 1 << iota
	writes
	deletes
	executes
)

var accessNames = [...]string{"read", "write", "delete", "execute"}

// roleAccess lists the roles. Those without an access are interpreted by name in call.go.
var roleAccess = map[string]access{
	"-":      0, // not a path
	"read":   reads,
	"write":  writes,
	"edit":   reads | writes,
	"delete": deletes,
	"exec":   executes,
	"key":    reads, // the client's own key or settings, which it uses and does not print
	"auto":   reads, // a path only if it looks like one
	"dir":    0,     // the command works there instead of its directory
	"host":   0,     // a host, user@host or URL
	"url":    0,     // a URL, or else a host; file: is a path
	"cmd":    0,     // another program and its words, which the shell walk has opened
	"assign": 0,     // NAME=value
}

// option is what the table knows of one option.
type option struct {
	value    *role // nil when it takes none
	attached bool  // the value only stands in the same word
	effects  effect
	flags    bitset
	noFirst  bool
	noLast   bool
	stop     bool
}

// spec is a compiled row.
type spec struct {
	effects effect
	flags   bitset
	args    []role
	last    *role
	short   map[byte]*option
	long    map[string]*option
	style   style
	hook    func(*call)
	subs    map[string]*spec
	listed  bool // a row names it; false for "docker volume", which only leads to subcommands
}

// table finds specs by command name. A spec is made when its command is first asked for: a
// text names a handful of the two thousand commands.
type table struct {
	rows  map[string][]*row
	specs sync.Map // string to *spec
}

// commands is the table of all rows.
var commands = sync.OnceValue(func() *table {
	return newTable(fileRows, textRows, archiveRows, diskRows, permissionRows, networkRows, transferRows,
		gitRows, systemRows, processRows, packageRows, buildRows, containerRows, cloudRows, dataRows, secretRows,
		shellRows, interpreterRows, harmlessRows, agentRows)
})

func newTable(tables ...[]row) *table {
	t := &table{rows: make(map[string][]*row, 2048)}
	for _, rows := range tables {
		for i := range rows {
			for name := range strings.FieldsSeq(rows[i].cmd) {
				t.rows[name] = append(t.rows[name], &rows[i])
			}
		}
	}
	return t
}

// find returns the spec of a command, nil when there is none. A row that cannot be read makes
// its command unknown; a test reads them all.
func (t *table) find(name string) *spec {
	rows := t.rows[name]
	if rows == nil {
		return nil
	}
	if s, ok := t.specs.Load(name); ok {
		return s.(*spec)
	}
	s, err := compile(rows)
	if err != nil {
		return nil
	}
	t.specs.Store(name, s)
	return s
}

// compile makes the spec of one command of its rows.
func compile(rows []*row) (*spec, error) {
	root := &spec{}
	for _, r := range rows {
		var body spec
		if err := body.read(*r); err != nil {
			return nil, fmt.Errorf("compile row %q %q: %w", r.cmd, r.sub, err)
		}
		for sub := range strings.SplitSeq(r.sub, ",") {
			s := root.place(strings.Fields(sub))
			if s.listed {
				return nil, fmt.Errorf("compile row %q: %q stands there twice", r.cmd, sub)
			}
			subs := s.subs
			*s = body
			s.subs = subs
		}
	}
	return root, nil
}

// place finds or makes the spec of some subcommand words.
func (s *spec) place(sub []string) *spec {
	for _, word := range sub {
		if s.subs == nil {
			s.subs = make(map[string]*spec)
		}
		next := s.subs[word]
		if next == nil {
			next = &spec{}
			s.subs[word] = next
		}
		s = next
	}
	return s
}
