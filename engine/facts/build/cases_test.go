package build

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// TestTableCases holds testdata/table/*.txt: a command line and, behind "=>", what the facts say of it. The
// test fails for a row, and for an option of a row, that no line uses; -update writes what stands behind
// "=>".
func TestTableCases(t *testing.T) {
	t.Parallel()
	b := testBuilder()
	files, err := filepath.Glob("testdata/table/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("find cases: %v, %d files", err, len(files))
	}
	used := covered{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for line := range strings.Lines(string(raw)) {
			text, _, _ := strings.Cut(line, " => ")
			if text = strings.TrimSpace(text); text == "" || text[0] == '#' {
				got.WriteString(line)
				continue
			}
			in := b.Build(testAsk(text))
			if !in.Shell.Parsed {
				t.Errorf("%s: %s", text, in.Shell.Error)
			}
			used.add(in)
			got.WriteString(text + " => " + compact(in) + "\n")
		}
		if *update {
			if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(string(raw), got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
	for _, missing := range used.missing() {
		t.Errorf("no case for %s: write a line in testdata/table", missing)
	}
}

// compact writes the facts on one line: effects and flags, hosts, paths, packages; "+ name" in front of
// a further command.
func compact(in *facts.Input) string {
	var out []string
	for i, c := range in.Commands {
		var words []string
		if i > 0 {
			words = append(words, "+ "+c.Name)
		}
		words = append(words, slices.Concat(c.Effects, c.Flags)...)
		if len(c.Hosts) > 0 {
			words = append(words, "-> "+strings.Join(c.Hosts, " "))
		}
		var paths []string
		for _, p := range in.Paths {
			if p.Command == i {
				star := ""
				if p.Recursive {
					star = "*"
				}
				paths = append(paths, p.Access+star+" "+strings.TrimPrefix(p.Path, testWS+"/"))
			}
		}
		if len(paths) > 0 {
			words = append(words, "("+strings.Join(paths, ", ")+")")
		}
		for _, p := range c.Packages {
			words = append(words, strings.Join(strings.Fields("["+p.Manager+" "+p.Name+" "+p.Version), " ")+"]")
		}
		if c.Code.From != "" {
			words = append(words, "code:"+c.Code.Language)
		}
		out = append(out, strings.Join(words, " "))
	}
	return strings.Join(out, " ")
}

// covered notes the rows that command lines use, and of these the options, by their names.
type covered map[*commands.Entry]map[string]bool

func (c covered) add(in *facts.Input) {
	for _, cmd := range in.Commands {
		for _, e := range commands.Builtin().Find(cmd.Name) {
			c.use(e, cmd.Argv)
			_, subs, _ := e.Row()
			for _, s := range subs {
				if slices.Contains(s.Names, cmd.Subcommand) {
					c.use(s, cmd.Argv)
				}
			}
		}
	}
}

// use notes a row and those of its options that stand in the words of a command.
func (c covered) use(e *commands.Entry, argv []string) {
	row, _, _ := e.Row()
	if e = e.Original(); c[e] == nil {
		c[e] = map[string]bool{}
	}
	for names := range maps.Keys(optionsOf(row)) {
		for name := range strings.SplitSeq(names, ", ") {
			if slices.ContainsFunc(argv, func(w string) bool {
				return w == name || strings.HasPrefix(w, name+"=") || len(name) == 2 && strings.HasPrefix(w, name)
			}) {
				c[e][names] = true
			}
		}
	}
}

// optionsOf are the names of the options of a row, and the words behind which commands stand.
func optionsOf(row commands.Row) map[string]bool {
	set := map[string]bool{}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(row.Options)), row.Holds) {
		set[name] = true
	}
	return set
}

func (c covered) missing() []string {
	var list []string
	look := func(base string, e *commands.Entry) {
		name := strings.TrimSpace(base + " " + e.Names[0])
		row, _, _ := e.Row()
		options := optionsOf(row)
		if e.Original() != e ||
			row.Runs == nil && row.Packages == nil && len(options)+len(row.Operands) == 0 &&
				row.Does+row.Hook == "" {
			return
		}
		if c[e] == nil {
			list = append(list, "row "+name)
			return
		}
		for names := range options {
			if !c[e][names] {
				list = append(list, "option "+names+" of "+name)
			}
		}
	}
	commands.Builtin().Each(func(_ string, entries []*commands.Entry) {
		for _, e := range entries {
			look("", e)
			_, subs, _ := e.Row()
			for _, s := range subs {
				look(e.Names[0], s)
			}
		}
	})
	slices.Sort(list)
	return slices.Compact(list)
}

// TestRowsOfTheOperator holds that facts and the commands of carriers follow a table of the layout.
func TestRowsOfTheOperator(t *testing.T) {
	t.Parallel()
	table, err := commands.Builtin().With(map[string]commands.Row{
		"deploytool": {Does: "network publishes", Operands: []string{"read"}},
		"git":        {Subcommands: map[string]commands.Row{"ship": {Does: "publishes"}, "status": {Does: "network"}}},
		"inbox":      {Does: "execute", Operands: []string{"command"}, Runs: &commands.Runs{Command: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	const text = "deploytool a.txt; git ship; git status; inbox rm a.txt"
	l := testLayout()
	for _, c := range []struct {
		table *commands.Table
		want  string
	}{
		{nil, "read (read a.txt) + git + git read + inbox read (read a.txt)"},
		{table, "read network publishes (read a.txt) + git publishes + git read network + inbox execute + rm delete (delete a.txt)"},
	} {
		l.Table = c.table
		if got := compact(NewBuilder(l, newMemFS(machine), nil).Build(testAsk(text))); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
