package call

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
)

// Role is the meaning of an operand or of an option's value.
type Role struct {
	Word      string // a word of commands.Kinds
	Access    term.Access
	OfLink    bool // the link itself, not what it points to
	recursive bool // everything below as well
	Metadata  bool // names, sizes and modes, not content
	remote    bool // HOST:PATH names a place elsewhere
	Stop      bool // options end here: the rest belongs to what this names
}

// roleAccess gives the access of the kinds that are paths.
var roleAccess = map[string]term.Access{
	"read":      term.Reads,
	"write":     term.Writes,
	"edit":      term.Reads | term.Writes,
	"delete":    term.Deletes,
	"execute":   term.Executes,
	"source":    term.Reads | term.Executes,
	"key":       term.Reads,
	"path-like": term.Reads,
	"script":    term.Reads,
}

// option is what the table knows of one option.
type option struct {
	Value   *Role // nil when it takes none
	arity   commands.Arity
	effects term.Effect
	flags   term.Set
	noFirst bool
	noLast  bool
	stop    bool
	parts   map[string]Role // of the parts NAME=VALUE of its value
}

// spec is what rows of the table say of a command or a subcommand, compiled.
type spec struct {
	effects term.Effect
	flags   term.Set
	args    []Role
	last    *Role
	short   map[byte]*option
	long    map[string]*option
	words   map[string]*option // "-eval", with one dash
	style   string
	home    []string // files below the home directory that it writes
	phrases [][]phrase
	when    []change
	hook    func(*Call)
	subs    map[string]*spec
	listed  bool // a row names it; false for "docker volume", which only leads to subcommands

	pending []*commands.Entry // its rows, until they are asked for
	once    sync.Once
	err     error
}

// Table finds specs by command name, and makes them when they are first asked for.
type Table struct {
	Rows  *commands.Table
	hooks map[string]func(*Call)
	specs sync.Map // string to *spec
}

// builtin is the table of the rows that come with the program.
var builtin = sync.OnceValue(func() *Table { return newTable(commands.Builtin()) })

// TableOf compiles rows when they are asked for; nil are the rows that come with the program.
func TableOf(rows *commands.Table) *Table {
	if rows == nil {
		return builtin()
	}
	return newTable(rows)
}

func newTable(rows *commands.Table) *Table { return &Table{Rows: rows, hooks: hooks()} }

// CheckTable reads the rows of some names in a table and returns the first error in them.
func CheckTable(rows *commands.Table, names []string) error {
	t := newTable(rows)
	for _, name := range names {
		s := &spec{pending: rows.Find(name)}
		if err := s.loadAll(t); err != nil {
			return err
		}
	}
	return nil
}

// loadAll reads the rows of a spec and of its subcommands.
func (s *spec) loadAll(t *Table) error {
	if err := s.load(t); err != nil {
		return err
	}
	for _, sub := range s.subs {
		if err := sub.loadAll(t); err != nil {
			return err
		}
	}
	return nil
}

// Find returns the spec of a command, nil when there is none. A row that cannot be read makes its command
// unknown; a test reads them all. So does one that only says what the command runs.
func (t *Table) Find(name string) *spec {
	rows := t.Rows.Find(name)
	if rows == nil {
		return nil
	}
	if s, ok := t.specs.Load(name); ok {
		return s.(*spec)
	}
	s := &spec{pending: rows}
	if s.load(t) != nil || !s.listed && s.subs == nil {
		return nil
	}
	kept, _ := t.specs.LoadOrStore(name, s)
	return kept.(*spec)
}

// sub returns the spec of a subcommand, nil when there is none.
func (s *spec) sub(t *Table, word string) *spec {
	next := s.subs[word]
	if next == nil || next.load(t) != nil {
		return nil
	}
	return next
}

// load reads the rows of a spec when it is first asked for.
func (s *spec) load(t *Table) error {
	s.once.Do(func() {
		for _, e := range s.pending {
			row, subs, err := e.Row()
			if err == nil {
				err = s.include(t, row)
			}
			if err != nil {
				s.err = fmt.Errorf("compile row %q: %w", e.Names[0], err)
				return
			}
			for _, sub := range subs {
				for _, name := range sub.Names {
					next := s.place(strings.Fields(name))
					next.pending = append(next.pending, sub)
				}
			}
		}
		s.pending = nil
	})
	return s.err
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

// include adds what a row says.
func (s *spec) include(t *Table, r commands.Row) error {
	s.listed = s.listed || len(r.Operands)+len(r.When) > 0 || r.Does+r.Hook+r.Style+r.Last != ""
	s.style += r.Style
	s.home = append(s.home, r.Home...)
	for _, name := range r.Words {
		list, err := phrasesOf(name)
		if err != nil {
			return err
		}
		s.phrases = append(s.phrases, list)
	}
	if err := words(r.Does, &s.effects, &s.flags); err != nil {
		return err
	}
	if r.Hook != "" {
		if s.hook = t.hooks[r.Hook]; s.hook == nil {
			return fmt.Errorf("no such hook %q", r.Hook)
		}
	}
	for _, kind := range r.Operands {
		operand, err := parseRole(kind)
		if err != nil {
			return err
		}
		s.args = append(s.args, operand)
	}
	if err := errors.Join(parseKind(&s.last, r.Last), s.includeChanges(r.When)); err != nil {
		return err
	}
	for names, o := range r.Options {
		if err := s.includeOption(names, o); err != nil {
			return fmt.Errorf("read option %s: %w", names, err)
		}
	}
	return nil
}

func (s *spec) includeOption(names string, from commands.Option) error {
	o := &option{arity: from.Arity(), stop: from.Ends, noFirst: from.Replaces == "first", noLast: from.Replaces == "last"}
	err := errors.Join(words(from.Does, &o.effects, &o.flags), parseKind(&o.Value, from.Value+from.Attached))
	if err != nil {
		return err
	}
	for name, kind := range from.Parts {
		part, err := parseRole(kind)
		if err != nil {
			return err
		}
		if o.parts == nil {
			o.parts = make(map[string]Role, len(from.Parts))
		}
		o.parts[name] = part
	}
	for name := range strings.SplitSeq(names, ", ") {
		bare := strings.TrimLeft(name, "-")
		switch {
		case bare == name || bare == "":
			return fmt.Errorf("%q is not an option", name)
		case s.style == "single-dash" || strings.HasPrefix(name, "--"):
			if s.long == nil {
				s.long = make(map[string]*option)
			}
			s.long[bare] = o
		case len(bare) > 1:
			if s.words == nil {
				s.words = make(map[string]*option)
			}
			s.words[name] = o
		case bare[0] >= 128 || s.short[bare[0]] != nil:
			return fmt.Errorf("option %s stands there twice", name)
		default:
			if s.short == nil {
				s.short = make(map[byte]*option)
			}
			s.short[bare[0]] = o
		}
	}
	return nil
}

// reads reports a row that looks at the words of a call, or runs them.
func (s *spec) reads() bool {
	return s.hook != nil || len(s.when) > 0 || len(s.args) > 0 && s.args[0].Word == "command"
}

// phrase is a phrase of the table, compiled.
type phrase struct {
	commands.Phrase
	effects term.Effect
	flags   term.Set
}

func phrasesOf(name string) (list []phrase, err error) {
	from := commands.Phrases()[name]
	if from == nil {
		return nil, fmt.Errorf("no such list of words %q", name)
	}
	for _, p := range from {
		compiled := phrase{Phrase: p}
		if err := words(p.Does, &compiled.effects, &compiled.flags); err != nil {
			return nil, err
		}
		list = append(list, compiled)
	}
	return list, nil
}

// words adds effects and flags by their names.
func words(text string, e *term.Effect, f *term.Set) error {
	for word := range strings.FieldsSeq(text) {
		if i := slices.Index(term.EffectNames[:], word); i >= 0 {
			*e |= 1 << i
		} else if i := slices.Index(term.FlagNames, word); i >= 0 {
			f.Add(uint8(i))
		} else {
			return fmt.Errorf("no such effect or flag %q", word)
		}
	}
	return nil
}

// parseKind reads a kind, if there is one.
func parseKind(to **Role, kind string) error {
	if kind == "" {
		return nil
	}
	role, err := parseRole(kind)
	*to = &role
	return err
}

// parseRole reads a kind: "delete link tree".
func parseRole(kind string) (Role, error) {
	words := strings.Fields(kind)
	if len(words) == 0 || commands.Kinds[words[0]] == "" {
		return Role{}, fmt.Errorf("no such kind %q", kind)
	}
	for _, q := range words[1:] {
		if commands.Qualifiers[q] == "" {
			return Role{}, fmt.Errorf("no such qualifier %q in kind %q", q, kind)
		}
	}
	is := func(q string) bool { return slices.Contains(words[1:], q) }
	return Role{
		Word: words[0], Access: roleAccess[words[0]],
		OfLink: is("link"), recursive: is("tree"), Metadata: is("metadata"), remote: is("remote"),
		Stop: is("stop") || words[0] == "command",
	}, nil
}
