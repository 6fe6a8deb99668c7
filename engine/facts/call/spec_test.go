package call

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

func TestQuiet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, value string
		want        bool
	}{
		{"PAGER", "less -R", true}, {"EDITOR", "/usr/bin/vim", true}, {"PAGER", "", true}, {"LESS", "-R", true},
		{"PAGER", "sh -c id", false}, {"EDITOR", "vim; id", false}, {"BASH_ENV", "cat", false}, {"GIT_SSH_COMMAND", "ssh -i k", true},
		{"GIT_SSH_COMMAND", "ssh -o ProxyCommand=x", false}, {"GIT_CONFIG_GLOBAL", "/dev/null", true}, {"GIT_CONFIG_KEY_0", "core.pager", false},
	} {
		if got := quiet(c.name, Exact(c.value)); got != c.want {
			t.Errorf("%s=%s: quiet is %v, want %v", c.name, c.value, got, c.want)
		}
	}
	if quiet("PAGER", value.Word{Text: "$X", Raw: "$X"}) {
		t.Error("a value that is not known counts as quiet")
	}
}

// TestTableCompiles reads every row, and looks for hooks that none of them names.
func TestTableCompiles(t *testing.T) {
	t.Parallel()
	unused := hooks()
	table := TableOf(commands.Index())
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

// A condition with a flag or a list that is not known is an error, and no condition that always fails.
func TestConditionsAreChecked(t *testing.T) {
	t.Parallel()
	for key, good := range map[string]bool{
		"-l with (none) without (dry_run)": true, "@guards": true, "-x=a*, ^b": true, "without -x": true,
		"(no_such_flag)": false, "-l without (dryrun)": false, "@no-such-list": false, "-l with @nothing": false,
	} {
		if err := (&spec{}).includeChanges(map[string]commands.Change{key: {Does: "read"}}); (err == nil) != good {
			t.Errorf("%s: %v", key, err)
		}
	}
	for _, wrong := range []commands.Change{{Does: "fly"}, {Drops: "fly"}, {Paths: "fly"}, {Operands: "fly"}, {Here: "fly"}} {
		if err := (&spec{}).includeChanges(map[string]commands.Change{"-l": wrong}); err == nil {
			t.Errorf("%+v is no error", wrong)
		}
	}
}

// TestHooksBecomeFewer holds the number of hooks: a row is data, a hook is code. The page on the architecture
// tells the number.
func TestHooksBecomeFewer(t *testing.T) {
	t.Parallel()
	const most = 79
	names := slices.Sorted(maps.Keys(hooks()))
	if len(names) > most {
		t.Errorf("%d hooks, at most %d: say it in the row, or replace another hook by data:\n%s",
			len(names), most, strings.Join(names, " "))
	}
	text, err := os.ReadFile("../../../docs/architecture.md")
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
	got, want := strings.Split(first, "|"), slices.Concat(term.EffectNames[:], term.FlagNames)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || pattern != "^("+first+")( ("+first+"))*$" {
		t.Errorf("the pattern of does in engine/commands/schema.json lists\n%v, want\n%v", got, want)
	}
}

func TestEveryListOfWordsIsCompiled(t *testing.T) {
	t.Parallel()
	used := listNames{"sql": true, "sql-reach": true}
	commands.Builtin().Each(func(_ string, entries []*commands.Entry) {
		for _, e := range entries {
			row, subs, _ := e.Row()
			used.conditions(row)
			for _, name := range row.Words {
				used[name] = true
			}
			for _, sub := range subs {
				row, _, _ := sub.Row()
				used.conditions(row)
			}
		}
	})
	for name := range commands.Phrases() {
		if _, err := phrasesOf(name); err != nil || !used[name] {
			t.Errorf("list %s: %v, used: %v", name, err, used[name])
		}
	}
}

// listNames are names of lists of words.
type listNames map[string]bool

// conditions notes the lists that the conditions of a row name, and the flags that are none.
func (l listNames) conditions(row commands.Row) {
	for key := range row.When {
		for _, word := range strings.FieldsFunc(key, func(r rune) bool { return r == ' ' || r == ',' }) {
			if name, ok := strings.CutPrefix(word, "@"); ok {
				l[name] = true
			}
		}
	}
}

// The keys of lists are flags, accesses, or words that the code asks for.
func TestListsNameFlags(t *testing.T) {
	t.Parallel()
	known := append(slices.Concat(term.FlagNames, term.AccessNames[:]),
		"command", "walked", "search", "quiet", "loads", "runs", "options")
	for key := range commands.Variables() {
		if !slices.Contains(known, key) {
			t.Errorf("variables.yaml has %q", key)
		}
	}
	for _, row := range commands.BusCalls() {
		if fields := strings.Fields(row); len(fields) < 2 || fields[0] != "none" && !slices.Contains(term.FlagNames, fields[0]) {
			t.Errorf("bus.yaml has %q", row)
		}
	}
}
