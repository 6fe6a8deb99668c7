package config

import (
	"encoding"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sallyport-dev/sallyport/engine/lazyregexp"
)

// decoder fills a struct from YAML nodes. It goes on after a problem, so that an operator sees all of them at
// once. It takes no aliases, tags or merge keys: a file has no hidden content.
type decoder struct {
	base     string // directory that relative paths start from
	home     string
	problems []Problem
	where    map[string]position // of every key and list entry that the file has
}

type position struct{ line, column int }

func (d *decoder) fail(n *yaml.Node, key, format string, args ...any) {
	d.problems = append(d.problems, Problem{Line: n.Line, Column: n.Column, Key: key,
		Text: fmt.Sprintf(format, args...)})
}

// document reads the one document of a file. It returns false when there is nothing to look at
// further.
func (d *decoder) document(text string, v any) bool {
	dec := yaml.NewDecoder(strings.NewReader(text))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		d.problems = append(d.problems, Problem{Line: 1, Column: 1,
			Text: "the file is empty: it needs at least the line \"version: 1\""})
		return false
	case err != nil:
		d.problems = append(d.problems, syntaxProblem(err))
		return false
	}
	d.value(doc.Content[0], reflect.ValueOf(v).Elem(), "", "")
	if err := dec.Decode(&more); err == nil {
		d.fail(&more, "", "a second document begins here: a configuration is one document")
	} else if !errors.Is(err, io.EOF) {
		d.problems = append(d.problems, syntaxProblem(err))
	}
	return doc.Content[0].Kind == yaml.MappingNode
}

var yamlLine = lazyregexp.New(`^(?:yaml: )?line ([0-9]+): `)

// syntaxProblem takes the line out of an error of the YAML parser, which has it in its text only.
func syntaxProblem(err error) Problem {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	p := Problem{Line: 1, Column: 1}
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		p.Line, _ = strconv.Atoi(m[1])
		text = text[len(m[0]):]
	}
	p.Text = "not valid YAML: " + text
	return p
}

// value reads n into v. tag is the struct tag of the field that v belongs to, also through lists
// and maps.
func (d *decoder) value(n *yaml.Node, v reflect.Value, key string, tag reflect.StructTag) {
	d.where[key] = position{n.Line, n.Column}
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		d.fail(n, key, "anchors and aliases are not taken: write the value out")
		return
	case n.Style&yaml.TaggedStyle != 0:
		d.fail(n, key, "the tag %s is not taken: leave it out", n.Tag)
		return
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		return // "key:" with nothing behind it is the default
	}
	switch {
	case v.Addr().Type().Implements(textUnmarshaler):
		d.text(n, v, key)
	case v.Kind() == reflect.Struct:
		d.mapping(n, v, key)
	case v.Kind() == reflect.Map:
		d.table(n, v, key, tag)
	case v.Kind() == reflect.Slice:
		d.list(n, v, key, tag)
	default:
		d.scalar(n, v, key, tag)
	}
}

var (
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	pathType        = reflect.TypeFor[Path]()
)

func (d *decoder) text(n *yaml.Node, v reflect.Value, key string) {
	if n.Kind != yaml.ScalarNode {
		d.fail(n, key, "want a single value, found %s", kindName(n))
		return
	}
	if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(n.Value)); err != nil {
		d.fail(n, key, "%s", err)
	}
}

func (d *decoder) mapping(n *yaml.Node, v reflect.Value, key string) {
	fields := reflect.VisibleFields(v.Type())
	seen := d.pairs(n, key, func(k, value *yaml.Node, name string) {
		i := slices.IndexFunc(fields, func(f reflect.StructField) bool { return yamlName(f) == k.Value })
		if i < 0 {
			names := make([]string, len(fields))
			for j, f := range fields {
				names[j] = yamlName(f)
			}
			d.fail(k, name, "unknown key%s", didYouMean(k.Value, names))
			return
		}
		d.value(value, v.FieldByIndex(fields[i].Index), name, fields[i].Tag)
	})
	for _, f := range fields {
		if seen != nil && required(f.Tag) && !seen[yamlName(f)] {
			d.fail(n, key, "missing key %q", yamlName(f))
		}
	}
}

func (d *decoder) table(n *yaml.Node, v reflect.Value, key string, tag reflect.StructTag) {
	v.Set(reflect.MakeMap(v.Type()))
	d.pairs(n, key, func(k, value *yaml.Node, name string) {
		entry := reflect.New(v.Type().Elem()).Elem()
		d.value(value, entry, name, tag)
		v.SetMapIndex(reflect.ValueOf(k.Value), entry)
	})
}

// pairs calls f for each pair of a mapping and returns its keys, or nil when n is no mapping.
func (d *decoder) pairs(n *yaml.Node, key string, f func(k, value *yaml.Node, name string)) map[string]bool {
	if n.Kind != yaml.MappingNode {
		d.fail(n, key, "want keys and values, found %s", kindName(n))
		return nil
	}
	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		k, value := n.Content[i], n.Content[i+1]
		name := strings.TrimPrefix(key+"."+k.Value, ".")
		switch {
		case k.Kind != yaml.ScalarNode || k.Tag != "!!str" || k.Anchor != "":
			d.fail(k, key, "a key must be plain text: anything else, merge keys included, is not taken")
		case seen[k.Value]:
			d.fail(k, name, "the key is there twice")
		default:
			seen[k.Value] = true
			f(k, value, name)
		}
	}
	return seen
}

func (d *decoder) list(n *yaml.Node, v reflect.Value, key string, tag reflect.StructTag) {
	if n.Kind != yaml.SequenceNode {
		d.fail(n, key, "want a list, found %s: write [%s]", kindName(n), n.Value)
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, c := range n.Content {
		name := fmt.Sprintf("%s[%d]", key, i)
		if c.Kind == yaml.ScalarNode && c.Tag == "!!null" {
			d.fail(c, name, "the entry is empty")
			continue
		}
		d.value(c, v.Index(i), name, tag)
	}
}

func (d *decoder) scalar(n *yaml.Node, v reflect.Value, key string, tag reflect.StructTag) {
	if n.Kind != yaml.ScalarNode {
		d.fail(n, key, "want %s, found %s", typeName(v.Kind()), kindName(n))
		return
	}
	switch {
	case v.Kind() == reflect.String && n.Tag == "!!str":
		v.SetString(n.Value)
	case v.Kind() == reflect.String:
		d.fail(n, key, "want text, found %s: write it in quotes", kindName(n))
		return
	case v.Kind() == reflect.Bool && n.Tag == "!!bool" && (n.Value == "true" || n.Value == "false"):
		v.SetBool(n.Value == "true")
	case v.Kind() == reflect.Int && n.Tag == "!!int":
		i, err := strconv.ParseInt(n.Value, 10, 32)
		if err != nil {
			d.fail(n, key, "%s is not a number that is taken here", n.Value)
			return
		}
		v.SetInt(i)
	case v.Kind() == reflect.Float64 && (n.Tag == "!!int" || n.Tag == "!!float"):
		f, err := strconv.ParseFloat(n.Value, 64)
		if err != nil {
			d.fail(n, key, "%s is not a number that is taken here", n.Value)
			return
		}
		v.SetFloat(f)
	default:
		d.fail(n, key, "want %s, found %s", typeName(v.Kind()), kindName(n))
		return
	}
	if allowed := enum(tag); len(allowed) > 0 && !slices.Contains(allowed, n.Value) {
		d.fail(n, key, "unknown value %q%s", n.Value, didYouMean(n.Value, allowed))
	}
	if v.Type() == pathType {
		d.path(n, v, key)
	}
}

// path makes a path absolute. An empty one stays empty: it is the default of optional places.
func (d *decoder) path(n *yaml.Node, v reflect.Value, key string) {
	p, err := absolute(v.String(), d.base, d.home)
	if err != nil {
		d.fail(n, key, "%s", err)
		return
	}
	v.SetString(p)
}

// absolute returns p as an absolute, clean path.
func absolute(p, base, home string) (string, error) {
	switch {
	case p == "":
		return "", nil
	case strings.ContainsRune(p, 0):
		return "", errors.New("the path holds a NUL byte")
	case strings.HasPrefix(p, "$"):
		return "", fmt.Errorf("variables are not expanded: write %q out", p)
	case p == "~" || strings.HasPrefix(p, "~/"):
		if home == "" {
			return "", fmt.Errorf("%q: there is no home directory: write the path out", p)
		}
		return filepath.Join(home, p[1:]), nil
	case filepath.IsAbs(p):
		return filepath.Clean(p), nil
	}
	return filepath.Join(base, p), nil
}

func yamlName(f reflect.StructField) string { return f.Tag.Get("yaml") }

func required(tag reflect.StructTag) bool {
	return slices.Contains(strings.Split(tag.Get("jsonschema"), ","), "required")
}

// enum returns the values that a field takes; none means any. The tag is the one that the JSON
// Schema is made from, so that both say the same.
func enum(tag reflect.StructTag) []string {
	var values []string
	for _, part := range strings.Split(tag.Get("jsonschema"), ",") {
		if value, ok := strings.CutPrefix(part, "enum="); ok {
			values = append(values, value)
		}
	}
	return values
}

func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys and values"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.Tag {
	case "!!int", "!!float":
		return "the number " + n.Value
	case "!!bool":
		return n.Value
	}
	return strconv.Quote(n.Value)
}

func typeName(k reflect.Kind) string {
	switch k {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Float64:
		return "a number"
	}
	return "text"
}
