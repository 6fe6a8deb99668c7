package facts

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/commands"
)

// TestTableCompiles reads every row, and looks for hooks that none of them names.
func TestTableCompiles(t *testing.T) {
	t.Parallel()
	unused := hooks()
	table := newTable(commands.Index())
	commands.Index().Each(func(name string, entries []*commands.Entry) {
		s := &spec{pending: entries}
		if err := s.loadAll(table); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, e := range entries {
			row, subs, _ := e.Row()
			delete(unused, row.Hook)
			for _, sub := range subs {
				row, _, _ := sub.Row()
				delete(unused, row.Hook)
			}
		}
	})
	for name := range unused {
		t.Errorf("no row names the hook %s", name)
	}
}

// TestHooksBecomeFewer holds the number of hooks: a row is data, a hook is code. The page on the architecture
// tells the number.
func TestHooksBecomeFewer(t *testing.T) {
	t.Parallel()
	const most = 122
	names := slices.Sorted(maps.Keys(hooks()))
	if len(names) > most {
		t.Errorf("%d hooks, at most %d: say it in the row, or replace another hook by data:\n%s",
			len(names), most, strings.Join(names, " "))
	}
	text, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	if said := fmt.Sprintf(" %d hooks", len(names)); !strings.Contains(string(text), said) {
		t.Errorf("docs/architecture.md does not say%s", said)
	}
}

func TestSchemaOfTheTableListsEffectsAndFlags(t *testing.T) {
	t.Parallel()
	var schema struct {
		Definitions map[string]struct{ Pattern string }
	}
	if err := json.Unmarshal(commands.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	pattern := schema.Definitions["does"].Pattern
	first, _, _ := strings.Cut(strings.TrimPrefix(pattern, "^("), ")")
	got, want := strings.Split(first, "|"), slices.Concat(effectNames[:], flagNames)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || pattern != "^("+first+")( ("+first+"))*$" {
		t.Errorf("the pattern of does in engine/commands/schema.json lists\n%v, want\n%v", got, want)
	}
}

// TestRowsOfTheOperator holds that a table of the layout is used for facts and for what commands run.
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
