package config

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "rewrite schema.json and docs/configuration.md")

const reference = "../../docs/configuration.md"

// reflected makes the schema from the types, their tags and their comments.
func reflected(t *testing.T) *jsonschema.Schema {
	t.Helper()
	r := &jsonschema.Reflector{
		FieldNameTag:               "yaml",
		RequiredFromJSONSchemaTags: true,
		DoNotReference:             true,
		Anonymous:                  true,
		Mapper: func(typ reflect.Type) *jsonschema.Schema {
			switch typ {
			case reflect.TypeFor[Duration]():
				return &jsonschema.Schema{Type: "string", Pattern: `^([0-9.]+(ns|us|µs|ms|s|m|h))+$`}
			case reflect.TypeFor[Size]():
				return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "integer"}, {Type: "string", Pattern: `^[0-9]+(\.[0-9]+)? ?[A-Za-z]*$`}}}
			case reflect.TypeFor[Date]():
				return &jsonschema.Schema{Type: "string", Pattern: `^[0-9]{4}-[0-9]{2}-[0-9]{2}(T.*)?$`}
			case reflect.TypeFor[Pattern]():
				return &jsonschema.Schema{Type: "string"}
			}
			return nil
		},
	}
	if err := r.AddGoComments("github.com/sallyport-dev/sallyport/engine/config", ".", jsonschema.WithFullComment()); err != nil {
		t.Fatal(err)
	}
	for name, comment := range r.CommentMap {
		r.CommentMap[name] = strings.Join(strings.Fields(comment), " ")
	}
	s := r.Reflect(&Config{})
	s.ID, s.Title = "https://github.com/sallyport-dev/sallyport/config", "sallyport.yaml"
	rules, _ := s.Properties.Get("rules")
	field, _ := reflect.TypeFor[Config]().FieldByName("Rules")
	rules.AdditionalProperties = &jsonschema.Schema{Type: "string"}
	for _, level := range enum(field.Tag) {
		rules.AdditionalProperties.Enum = append(rules.AdditionalProperties.Enum, level)
	}
	rules.Enum = nil
	nullable(s, reflect.TypeFor[Config](), defaultsOf(t))
	return s
}

// defaultsOf returns the defaults as generic values, without those that depend on the machine.
func defaultsOf(t *testing.T) map[string]any {
	t.Helper()
	text, err := yaml.Marshal(Defaults(Host{Getenv: func(string) string { return "" }}))
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := yaml.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// nullable fills in defaults, and lets every key that is not required be left empty, as Parse does.
func nullable(s *jsonschema.Schema, typ reflect.Type, defaults map[string]any) {
	for _, f := range reflect.VisibleFields(typ) {
		p, _ := s.Properties.Get(yamlName(f))
		def := defaults[yamlName(f)]
		if f.Type.Kind() == reflect.Struct && p.Properties != nil {
			sub, _ := def.(map[string]any)
			nullable(p, f.Type, sub)
		} else if v := reflect.ValueOf(def); def != nil && (v.Kind() != reflect.Slice && v.Kind() != reflect.Map || v.Len() > 0) && !v.IsZero() && def != "0" && def != "0s" {
			p.Default = def
		}
		if elem := f.Type; elem.Kind() == reflect.Slice && elem.Elem().Kind() == reflect.Struct && p.Items.Properties != nil {
			nullable(p.Items, elem.Elem(), nil)
		} else if elem.Kind() == reflect.Map && elem.Elem().Kind() == reflect.Struct {
			nullable(p.AdditionalProperties, elem.Elem(), nil)
		}
		if required(f.Tag) {
			continue
		}
		description, value := p.Description, p.Default
		p.Description, p.Default = "", nil
		inner := *p
		*p = jsonschema.Schema{Description: description, Default: value, AnyOf: []*jsonschema.Schema{&inner, {Type: "null"}}}
	}
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is stale, run go test ./engine/config -update (-want +got):\n%s", file, diff)
	}
}

func TestSchemaIsMadeFromTheTypes(t *testing.T) {
	got, err := json.MarshalIndent(reflected(t), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "schema.json", append(got, '\n'))
}

func TestEveryKeyIsDocumented(t *testing.T) {
	t.Parallel()
	r := &jsonschema.Reflector{}
	if err := r.AddGoComments("p", ".", jsonschema.WithFullComment()); err != nil {
		t.Fatal(err)
	}
	var walk func(reflect.Type)
	walk = func(typ reflect.Type) {
		for _, f := range reflect.VisibleFields(typ) {
			if r.CommentMap["p."+typ.Name()+"."+f.Name] == "" {
				t.Errorf("%s.%s has no comment", typ.Name(), f.Name)
			}
			inner := f.Type
			if k := inner.Kind(); k == reflect.Slice || k == reflect.Map {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct && inner != reflect.TypeFor[Date]() {
				walk(inner)
			}
		}
	}
	walk(reflect.TypeFor[Config]())
}

// TestSchemaAgreesWithParse holds the schema to what Parse takes and refuses, as far as shapes go.
func TestSchemaAgreesWithParse(t *testing.T) {
	t.Parallel()
	doc, err := validator.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := validator.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		text string
		ok   bool
	}{
		{"version: 1\n", true},
		{full, true},
		{"version: 1\nagent:\ndocker: {image: , memory: 2g}\n", true},
		{"version: 1\nrules: {a/b: deny}\n", true},
		{"version: 1\nlimits: {output: 4096}\n", true},
		{"agent: x\n", false},
		{"version: 2\n", false},
		{"version: 1\nagnet: x\n", false},
		{"version: 1\nmode: off\n", false},
		{"version: 1\ntimeout: 60\n", false},
		{"version: 1\nrules: {a/b: loud}\n", false},
		{"version: 1\npaths: [{access: read}]\n", false},
		{"version: 1\ndocker: {credentials: {mount: [house_keys]}}\n", false},
	} {
		var v any
		if err := yaml.Unmarshal([]byte(test.text), &v); err != nil {
			t.Fatal(err)
		}
		j, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		instance, err := validator.UnmarshalJSON(bytes.NewReader(j))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(instance); (err == nil) != test.ok {
			t.Errorf("schema on %q: %v, want ok %v", test.text, err, test.ok)
		}
		if _, err := parse(t, test.text); (err == nil) != test.ok {
			t.Errorf("Parse of %q: %v, want ok %v", test.text, err, test.ok)
		}
	}
}

// TestReference keeps the table of docs/configuration.md the same as the types.
func TestReference(t *testing.T) {
	const begin, end = "<!-- keys: made from engine/config by go test -update -->\n", "<!-- end of keys -->\n"
	doc, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(doc), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has lost its marks %q and %q", reference, begin, end)
	}
	golden(t, reference, []byte(head+begin+table(t)+end+tail))
}

func table(t *testing.T) string {
	var b strings.Builder
	b.WriteString("\n| key | value | default | meaning |\n|---|---|---|---|\n")
	rows(&b, reflected(t), reflect.TypeFor[Config](), "")
	return b.String() + "\n"
}

func rows(b *strings.Builder, s *jsonschema.Schema, typ reflect.Type, prefix string) {
	for _, f := range reflect.VisibleFields(typ) {
		name := prefix + yamlName(f)
		outer, _ := s.Properties.Get(yamlName(f))
		inner := outer
		if len(outer.AnyOf) > 0 {
			inner = outer.AnyOf[0]
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", name, valueName(f), defaultName(outer, f),
			strings.ReplaceAll(outer.Description, "|", `\|`))
		switch {
		case f.Type.Kind() == reflect.Struct && inner.Properties != nil:
			rows(b, inner, f.Type, name+".")
		case f.Type.Kind() == reflect.Slice && inner.Items != nil && inner.Items.Properties != nil:
			rows(b, inner.Items, f.Type.Elem(), name+"[].")
		case f.Type.Kind() == reflect.Map && inner.AdditionalProperties.Properties != nil:
			rows(b, inner.AdditionalProperties, f.Type.Elem(), name+".NAME.")
		}
	}
}

func valueName(f reflect.StructField) string {
	if values := enum(f.Tag); len(values) > 0 {
		return strings.Join(values, ", ")
	}
	switch typ := f.Type; {
	case typ.Kind() == reflect.Slice && slices.Contains([]reflect.Kind{reflect.Struct}, typ.Elem().Kind()):
		return "list"
	case typ.Kind() == reflect.Slice:
		return "list of " + strings.ToLower(strings.Replace(typ.Elem().Name(), "string", "text", 1)) + "s"
	case typ.Kind() == reflect.Map:
		return "by name"
	case typ == reflect.TypeFor[Date]():
		return "date"
	case typ.Kind() == reflect.Struct:
		return "keys"
	case typ.Kind() == reflect.String && typ.Name() == "string":
		return "text"
	case typ.Kind() == reflect.Int, typ.Kind() == reflect.Float64:
		return "number"
	case typ.Kind() == reflect.Bool:
		return "true or false"
	default:
		return strings.ToLower(typ.Name())
	}
}

func defaultName(s *jsonschema.Schema, f reflect.StructField) string {
	switch {
	case required(f.Tag):
		return "required"
	case s.Default == nil:
		return ""
	}
	if list, ok := s.Default.([]any); ok {
		words := make([]string, len(list))
		for i, w := range list {
			words[i] = fmt.Sprint(w)
		}
		return "`" + strings.Join(words, " ") + "`"
	}
	return fmt.Sprintf("`%v`", s.Default)
}
