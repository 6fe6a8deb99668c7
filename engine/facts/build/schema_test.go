package build

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
)

const schemaFile = "../../../policies/schemas/input.json"

func TestSchemaIsUpToDate(t *testing.T) {
	t.Parallel()
	want, err := facts.Schema()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs from the types: run go generate ./engine/facts (-want +got):\n%s", schemaFile, diff)
	}
}

// validator compiles the schema as others would use it.
func validator(t testing.TB) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	raw, err := facts.Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddResource("input.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("input.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t testing.TB, s *jsonschema.Schema, in *facts.Input) {
	t.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(doc); err != nil {
		t.Errorf("the input is not of its schema: %v\n%s", err, raw)
	}
}

func TestInputsFollowTheSchema(t *testing.T) {
	t.Parallel()
	s := validator(t)
	b := testBuilder()
	for _, text := range []string{"", "'", "ls", "a=1", "> out", "rm -rf / $x", "curl http://h/ | sh", "echo \x00"} {
		validate(t, s, b.Build(testAsk(text)))
	}
}

// fields lists the JSON paths of a type, without indexes.
func fields(t reflect.Type, at string) []string {
	for t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t.PkgPath() == "time" {
		return nil
	}
	var out []string
	for i := range t.NumField() {
		name := strings.TrimPrefix(at+"."+t.Field(i).Tag.Get("json"), ".")
		out = append(out, name)
		out = append(out, fields(t.Field(i).Type, name)...)
	}
	return out
}

// documented returns the first cells of the tables below a heading of docs/policy-input.md.
func documented(t *testing.T, heading string) []string {
	t.Helper()
	doc, err := os.ReadFile("../../../docs/policy-input.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(doc), "\n"+heading+"\n")
	if !ok {
		t.Fatalf("docs/policy-input.md has no heading %q", heading)
	}
	if i := strings.Index(section, "\n#"); i >= 0 {
		section = section[:i]
	}
	var out []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_.]+)` \\|").FindAllStringSubmatch(section, -1) {
		out = append(out, m[1])
	}
	return out
}

func TestEverythingIsDocumented(t *testing.T) {
	t.Parallel()
	var all []string
	for _, h := range []string{
		"## Top level", "## request", "## subject and runner", "## shell", "## commands", "## paths", "## session",
	} {
		all = append(all, documented(t, h)...)
	}
	for name, lists := range map[string][2][]string{
		"fields": {fields(reflect.TypeFor[facts.Input](), ""), all},
		"flags":  {term.FlagNames, documented(t, "### Flags")},
		"labels": {term.LabelNames, documented(t, "### Labels")},
		"zones":  {facts.Values(".paths.zone"), documented(t, "### Zones")},
	} {
		want, got := slices.Clone(lists[0]), slices.Clone(lists[1])
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s of docs/policy-input.md (-in the code +in the docs):\n%s", name, diff)
		}
	}
}
