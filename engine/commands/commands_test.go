package commands

import (
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// document reads a file as YAML libraries do that know nothing of this package.
func document(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

func tableFiles(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob("table/*.yaml")
	if err != nil || len(list) == 0 {
		t.Fatalf("find the table: %v, %d files", err, len(list))
	}
	return list
}

func TestFilesFitTheSchema(t *testing.T) {
	t.Parallel()
	read, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", read); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range tableFiles(t) {
		var d any
		document(t, file, &d)
		if err := schema.Validate(d); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	for text, why := range map[string]string{
		"cp: {reads: all}": "unknown field", "cp: {operands: [red]}": "unknown kind", "cp: {does: deletes}": "unknown effect",
		"cp: {options: {f: {}}}": "option without a dash", "cp: {options: {-f: {value: read, attached: read}}}": "two values",
	} {
		var d any
		if err := yaml.Unmarshal([]byte(text), &d); err != nil {
			t.Fatal(err)
		}
		if schema.Validate(d) == nil {
			t.Errorf("the schema takes %q: %s", text, why)
		}
	}
}

var update = flag.Bool("update", false, "rewrite index.txt")

// TestIndexIsOfTheFiles compares the index with one that is made anew.
func TestIndexIsOfTheFiles(t *testing.T) {
	t.Parallel()
	want := checksum() + "\n" + makeIndex()
	if *update {
		if err := os.WriteFile("index.txt", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if ready != want {
		t.Error("index.txt is stale: run go test ./engine/commands -update")
	}
}

// TestStaleIndexIsNotUsed has an index of other files lose the row of a command, which must be found all the
// same.
func TestStaleIndexIsNotUsed(t *testing.T) {
	t.Parallel()
	if rows := indexed(checksum() + "\n").Find("rm"); rows != nil {
		t.Fatalf("an empty index has %d rows: this test shows nothing", len(rows))
	}
	for _, stale := range []string{"", "00000000\n", "00000000\nrm\tgit.yaml\t0\t1\n"} {
		rows := indexed(stale).Find("rm")
		if len(rows) == 0 {
			t.Errorf("%q: rm is not found", stale)
			continue
		}
		if row, _, err := rows[0].Row(); err != nil || len(row.Operands) == 0 {
			t.Errorf("%q: %+v, %v", stale, row, err)
		}
	}
}

func TestPlacesThatAreDamaged(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"", "git.yaml\t0", "git.yaml\t0\tx", "none.yaml\t0\t1", "git.yaml\t5\t4", "git.yaml\t0\t9999999", "git.yaml\t0\t1"} {
		if _, _, err := (&builtin{}).row(place).Row(); err == nil {
			t.Errorf("%q was read", place)
		}
	}
}

// The order of the options of a row says nothing: two descriptions of one option would hold at random.
func TestRowsDescribeAnOptionOnce(t *testing.T) {
	t.Parallel()
	var once func(name string, r Row)
	once = func(name string, r Row) {
		seen := map[string]bool{}
		for names := range r.Options {
			for option := range strings.SplitSeq(names, ", ") {
				if seen[option] {
					t.Errorf("%s: two descriptions of %s", name, option)
				}
				seen[option] = true
			}
		}
		for sub, r := range r.Subcommands {
			once(name+" "+sub, r)
		}
	}
	for _, file := range tableFiles(t) {
		rows := map[string]Row{}
		document(t, file, &rows)
		for name, r := range rows {
			once(name, r)
		}
	}
}

// TestIndexReadsAllOfTheFiles compares the rows that the index finds by their indentation with the whole
// documents.
func TestIndexReadsAllOfTheFiles(t *testing.T) {
	t.Parallel()
	want := map[string][]Row{}
	for _, file := range tableFiles(t) {
		rows := map[string]Row{}
		document(t, file, &rows)
		for names, r := range rows {
			for name := range strings.SplitSeq(names, ", ") {
				want[name] = append(want[name], r)
			}
		}
	}
	n := 0
	Index().Each(func(name string, entries []*Entry) {
		n++
		if len(want[name]) != len(entries) {
			t.Errorf("%s has %d rows in the index, %d in the files", name, len(entries), len(want[name]))
			return
		}
		for _, e := range entries {
			row, subs, err := e.Row()
			if err != nil {
				t.Error(err)
				continue
			}
			whole := row
			whole.Subcommands = nil
			for _, s := range subs {
				r, _, err := s.Row()
				if err != nil {
					t.Error(err)
				}
				if whole.Subcommands == nil {
					whole.Subcommands = map[string]Row{}
				}
				whole.Subcommands[strings.Join(s.Names, ", ")] = r
			}
			if !slices.ContainsFunc(want[name], func(r Row) bool { return same(resolve(want, r), whole) }) {
				t.Errorf("the index reads another row of %s than the file has", name)
			}
		}
	})
	if n != len(want) || n < 2000 {
		t.Errorf("the index has %d commands, the files have %d", n, len(want))
	}
}

// resolve follows "like" in a whole document.
func resolve(all map[string][]Row, r Row) Row {
	if r.Like != "" {
		r = all[r.Like][0]
	}
	if r.Runs != nil && len(r.Runs.Others) > 0 { // lines of words
		runs := *r.Runs
		runs.Others = strings.Fields(strings.Join(runs.Others, " "))
		r.Runs = &runs
	}
	subs := maps.Clone(r.Subcommands)
	for names, s := range subs {
		for other, same := range r.Subcommands {
			if s.Like != "" && slices.Contains(strings.Split(other, ", "), s.Like) {
				subs[names] = same
			}
		}
	}
	r.Subcommands = subs
	return r
}

func same[T any](a, b T) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func TestSchemaListsTheWords(t *testing.T) {
	t.Parallel()
	var s struct {
		Definitions map[string]struct {
			Pattern    string
			Properties map[string]struct{ Enum []string }
		}
	}
	if err := json.Unmarshal(Schema, &s); err != nil {
		t.Fatal(err)
	}
	kind := s.Definitions["kind"].Pattern
	for _, word := range slices.Concat(slices.Collect(maps.Keys(Kinds)), slices.Collect(maps.Keys(Qualifiers))) {
		if !strings.Contains(kind, "("+word+"|") && !strings.Contains(kind, "|"+word+"|") && !strings.Contains(kind, "|"+word+")") {
			t.Errorf("the schema lacks the kind or qualifier %q", word)
		}
	}
	for style := range Styles {
		if style != "" && !slices.Contains(s.Definitions["command"].Properties["style"].Enum, style) {
			t.Errorf("the schema lacks the style %q", style)
		}
	}
}

func TestWordsReadAsYAML(t *testing.T) {
	t.Parallel()
	var lists map[string]yaml.Node
	document(t, "words.yaml", &lists)
	for name, list := range lists {
		var want []Phrase
		for i := 0; i < len(list.Content); i += 2 {
			var lines []string
			if err := list.Content[i+1].Decode(&lines); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for words := range strings.SplitSeq(strings.Join(lines, ", "), ", ") {
				want = append(want, Phrase{strings.Fields(words), list.Content[i].Value})
			}
		}
		if got := Phrases()[name]; !same(got, want) {
			t.Errorf("list %s reads as %v, want %v", name, got, want)
		}
	}
	if len(Phrases()) != len(lists) {
		t.Errorf("there are %d lists, want %d", len(Phrases()), len(lists))
	}
}

func TestListsReadAsYAML(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"sources.yaml": sourcesFile, "variables.yaml": variablesFile, "empties.yaml": emptiesFile, "network.yaml": networkFile,
		"bus.yaml": busFile, "lists.yaml": listsFile,
	} {
		var want map[string][]string
		document(t, name, &want)
		if got := lists(text); len(want) == 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s reads as %v, want %v", name, got, want)
		}
	}
}

// The code asks for the lists that there are.
func TestListsAreAskedFor(t *testing.T) {
	t.Parallel()
	asked := map[string]bool{}
	call := regexp.MustCompile(`commands?\.(?:Words|Listed)\("([^"]+)"`)
	for _, dir := range []string{"../facts", "../shell"} {
		err := filepath.WalkDir(dir, func(file string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(file) != ".go" {
				return err
			}
			text, err := os.ReadFile(file)
			for _, found := range call.FindAllSubmatch(text, -1) {
				asked[string(found[1])] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	have := slices.Sorted(maps.Keys(lists(listsFile)))
	if want := slices.Sorted(maps.Keys(asked)); !slices.Equal(have, want) {
		t.Errorf("lists.yaml has %q, the code asks for %q", have, want)
	}
}

func TestPhraseFits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		phrase, line string
		want         bool
	}{
		{"delete", "group delete x", true},
		{"delete", "group list", false},
		{"keyvault secret show", "keyvault secret show", true},
		{"keyvault secret show", "beta keyvault secret show x", true},
		{"keyvault secret show", "keyvault secret list show", false},
		{"keyvault secret show", "keyvault secret", false},
		{"delete-*", "x delete_user", true},
		{"delete-*", "x delete", false},
		{"*-delete", "mass-delete", true},
		{"*=*", "a kernel.panic=1", true},
		{"*=*", "a kernel.panic", false},
		{"^*", "x", true},
		{"^*", "", false},
		{"^debug", "debug object x", true},
		{"^debug", "get debug", false},
		{"dropdatabase", "db DropDatabase", true},
		{"SERVICE delete-*", "iam delete-user", true},
		{"SERVICE delete-*", "iam get-user delete-me", false},
	} {
		p := Phrase{Words: strings.Fields(c.phrase)}
		if got := p.Fits(strings.Fields(c.line)); got != c.want {
			t.Errorf("%q fits %q: %v, want %v", c.phrase, c.line, got, c.want)
		}
	}
}

// A row with a command for an operand says that it runs it: else nothing would look at that command. The shell's
// own builtins are walked without one.
func TestRowsRunTheCommandsOfTheirOperands(t *testing.T) {
	table := Index()
	isCommand := func(kind string) bool { return strings.HasPrefix(kind, "command") }
	table.Each(func(name string, rows []*Entry) {
		taken := slices.ContainsFunc(rows, func(e *Entry) bool {
			row, _, err := e.Row()
			return err != nil || slices.ContainsFunc(row.Operands, isCommand)
		})
		if taken && table.Command(name).Runs == nil && name != "disown" && name != "exec" {
			t.Errorf("%s has an operand that is a command and does not run it", name)
		}
	})
}
