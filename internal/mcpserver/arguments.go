package mcpserver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
)

// param is one argument of a tool. The schema for clients and the check of their values are both made from
// it, so the two cannot differ.
type param struct {
	name     string
	kind     kind
	about    string
	required bool
	standard any      // its default, for the schema
	choices  []string // of a text
	least    *float64 // of a number
	fields   []param  // of each element of a list; nil for a list of strings
}

// kind is a type of JSON Schema; list is an array of strings, or of objects where a param has fields.
type kind string

const (
	text    kind = "string"
	number  kind = "number"
	whole   kind = "integer"
	boolean kind = "boolean"
	list    kind = "array"
)

// says describes the values of a param for people.
func (p param) says() string {
	switch p.kind {
	case text:
		return "a string"
	case number:
		return "a number"
	case whole:
		return "a whole number"
	case boolean:
		return "true or false"
	case list:
		if p.fields != nil {
			return "a list of objects with " + usage(p.fields)
		}
		return "a list of strings"
	}
	return string(p.kind)
}

func atLeast(n float64) *float64 { return &n }

// inputSchema is the JSON Schema of a tool's arguments.
func inputSchema(params []param) (json.RawMessage, error) {
	return json.Marshal(objectSchema(params))
}

func objectSchema(params []param) map[string]any {
	properties := map[string]any{}
	required := []string{}
	for _, p := range params {
		property := map[string]any{"type": p.kind, "description": p.about}
		switch {
		case p.kind == list && p.fields != nil:
			property["items"] = objectSchema(p.fields)
		case p.kind == list:
			property["items"] = map[string]any{"type": text}
		}
		if p.standard != nil {
			property["default"] = p.standard
		}
		if p.choices != nil {
			property["enum"] = p.choices
		}
		if p.least != nil {
			property["minimum"] = *p.least
		}
		properties[p.name] = property
		if p.required {
			required = append(required, p.name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// paramsOf reads params off the fields of an input struct: its json tag is the name, omitempty makes it
// optional, its jsonschema tag describes it.
func paramsOf(t reflect.Type) []param {
	var out []param
	for f := range t.Fields() {
		name, optional := jsonName(f)
		p := param{name: name, about: f.Tag.Get("jsonschema"), required: !optional}
		at := f.Type
		if at.Kind() == reflect.Pointer {
			at = at.Elem()
		}
		switch at.Kind() {
		case reflect.String:
			p.kind = text
		case reflect.Bool:
			p.kind = boolean
		case reflect.Int:
			p.kind, p.least = whole, atLeast(0)
		case reflect.Slice:
			p.kind = list
			if at.Elem().Kind() == reflect.Struct {
				p.fields = paramsOf(at.Elem())
			}
		default:
			// Only our own input types come here, and a test describes each of them.
			panic(fmt.Sprintf("describe input field %s.%s: kind %s has no param", t, f.Name, at.Kind()))
		}
		out = append(out, p)
	}
	return out
}

// arguments are a client's arguments, checked: every value has the kind of its param.
type arguments map[string]any

// readArguments checks a client's arguments against the params of a tool and reports all problems at once.
// null counts as omitted: the predecessors declared optional arguments so.
func readArguments(sent any, params []param) (arguments, error) {
	object, err := object(sent)
	if err != nil {
		return nil, err
	}
	var problems []string
	args := arguments{}
	for name, value := range object {
		i := slices.IndexFunc(params, func(p param) bool { return p.name == name })
		if i < 0 {
			problems = append(problems, fmt.Sprintf("unknown argument %q", shortened(name, 60)))
			continue
		}
		if value == nil {
			continue
		}
		v, problem := params[i].read(value)
		if problem != "" {
			problems = append(problems, problem)
			continue
		}
		args[name] = v
	}
	for _, p := range params {
		if _, there := object[p.name]; p.required && (!there || object[p.name] == nil) {
			problems = append(problems, fmt.Sprintf("%s is missing: it must be %s", p.name, p.says()))
		}
	}
	if len(problems) == 0 {
		return args, nil
	}
	slices.Sort(problems)
	return nil, fmt.Errorf("%s. It takes: %s", strings.Join(problems, "; "), usage(params))
}

// object returns the arguments as a JSON object. Clients inside this process may send typed values.
func object(sent any) (map[string]any, error) {
	switch sent := sent.(type) {
	case nil:
		return nil, nil
	case map[string]any:
		return sent, nil
	default:
		return nil, fmt.Errorf("the arguments must be an object, not %s", jsonKind(sent))
	}
}

// read returns a value as its kind, or a description of the problem.
func (p param) read(value any) (v any, problem string) {
	wrong := func() string { return fmt.Sprintf("%s must be %s, not %s", p.name, p.says(), jsonKind(value)) }
	switch p.kind {
	case text:
		s, ok := value.(string)
		if !ok {
			return nil, wrong()
		}
		if p.choices != nil && !slices.Contains(p.choices, s) {
			return nil, fmt.Sprintf("%s must be one of %s", p.name, strings.Join(p.choices, ", "))
		}
		return s, ""
	case boolean:
		b, ok := value.(bool)
		if !ok {
			return nil, wrong()
		}
		return b, ""
	case number, whole:
		n, ok := value.(float64)
		switch {
		case !ok:
			return nil, wrong()
		case p.kind == whole && (n != math.Trunc(n) || math.Abs(n) > 1<<53):
			return nil, p.name + " must be a whole number"
		case p.least != nil && n < *p.least:
			return nil, fmt.Sprintf("%s must be at least %v", p.name, *p.least)
		}
		return n, ""
	case list:
		elements, ok := value.([]any)
		if !ok {
			return nil, wrong()
		}
		return p.elements(elements)
	}
	return nil, wrong()
}

// elements reads the elements of a list.
func (p param) elements(sent []any) (v any, problem string) {
	if p.fields != nil {
		out := make([]arguments, len(sent))
		for i, e := range sent {
			_, ok := e.(map[string]any)
			if !ok {
				return nil, fmt.Sprintf("%s: element %d must be an object, not %s", p.name, i, jsonKind(e))
			}
			var err error
			if out[i], err = readArguments(e, p.fields); err != nil {
				return nil, fmt.Sprintf("%s[%d]: %v", p.name, i, err)
			}
		}
		return out, ""
	}
	out := make([]string, len(sent))
	for i, e := range sent {
		var ok bool
		if out[i], ok = e.(string); !ok {
			return nil, fmt.Sprintf("%s: element %d must be a string, not %s", p.name, i, jsonKind(e))
		}
	}
	return out, ""
}

// jsonKind names the kind of a decoded JSON value.
func jsonKind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case float64:
		return "a number"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("%T", v)
}

// usage lists a tool's arguments in a line, the required ones first.
func usage(params []param) string {
	if len(params) == 0 {
		return "no arguments"
	}
	sorted := slices.Clone(params)
	slices.SortStableFunc(sorted, func(a, b param) int { return cmp.Compare(rank(a), rank(b)) })
	words := make([]string, len(sorted))
	for i, p := range sorted {
		need := "optional"
		if p.required {
			need = "required"
		}
		words[i] = fmt.Sprintf("%s (%s, %s)", p.name, p.says(), need)
	}
	return strings.Join(words, ", ")
}

func rank(p param) int {
	if p.required {
		return 0
	}
	return 1
}

func (a arguments) text(name string) string {
	s, _ := a[name].(string)
	return s
}

// whole returns a whole number, within int on every platform.
func (a arguments) whole(name string, standard int) int {
	n, ok := a[name].(float64)
	if !ok {
		return standard
	}
	return int(min(max(n, math.MinInt32), math.MaxInt32))
}

// seconds returns a time span. It is bounded so that it cannot overflow; the gate has a bound of its own.
func (a arguments) seconds(name string) time.Duration {
	n, _ := a[name].(float64)
	const most = 1e8 // three years
	return time.Duration(min(n, most) * float64(time.Second))
}

// offset returns a place in a stream.
func (a arguments) offset(name string) int64 {
	n, _ := a[name].(float64)
	return int64(n) // a whole number up to 2^53, as it was read
}
