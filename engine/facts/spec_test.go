package facts

import (
	"encoding/json"
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
		compileAll(t, table, name, s)
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

func compileAll(t *testing.T, table *table, name string, s *spec) {
	t.Helper()
	if err := s.load(table); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	for word, sub := range s.subs {
		compileAll(t, table, name+" "+word, sub)
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
