package mcpserver

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// describe writes the fields of a struct for a reader: short ones as "name: value", texts of several lines as
// blocks behind all others, lists with an element on each line. Empty and nil fields write nothing.
func (p *page) describe(v any) {
	if v == nil {
		return
	}
	for _, blocks := range []bool{false, true} {
		for f, field := range reflect.ValueOf(v).Fields() {
			name, omit := jsonName(f)
			if field.Kind() == reflect.Pointer && !field.IsNil() {
				field = field.Elem()
			}
			if field.Kind() == reflect.Pointer || field.IsZero() && (omit || field.Kind() == reflect.String) {
				continue
			}
			if blocks == severalLines(field) {
				p.field(name, field)
			}
		}
	}
}

func severalLines(v reflect.Value) bool {
	return v.Kind() == reflect.Map || v.Kind() == reflect.String && strings.Contains(v.String(), "\n")
}

func (p *page) field(name string, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if severalLines(v) {
			p.block(name, v.String())
		} else {
			p.line("%s: %s", name, v.String())
		}
	case reflect.Slice:
		if v.Len() == 0 {
			return
		}
		p.line("%s (%d):", name, v.Len())
		for i := range v.Len() {
			p.line("  %s", inline(v.Index(i)))
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			p.field(name+" "+k.String(), v.MapIndex(k))
		}
	default:
		p.line("%s: %s", name, inline(v))
	}
}

// inline writes a value on one line; a struct as its fields that are not zero.
func inline(v reflect.Value) string {
	switch v.Kind() {
	case reflect.String:
		return visible(v.String())
	case reflect.Struct:
		var parts []string
		for f, field := range v.Fields() {
			if name, _ := jsonName(f); !field.IsZero() {
				parts = append(parts, name+" "+inline(field))
			}
		}
		return strings.Join(parts, ", ")
	}
	return fmt.Sprint(v.Interface())
}

// dryRun reports whether details say that nothing was changed.
func dryRun(details any) bool {
	if details == nil {
		return false
	}
	f := reflect.ValueOf(details).FieldByName("DryRun")
	return f.IsValid() && f.Bool()
}

// jsonName is the name of a field in JSON, and whether it is left out when empty.
func jsonName(f reflect.StructField) (name string, omit bool) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name, strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
}

// schemaOf describes a result type as JSON Schema, in the small part of that language that every host
// takes: no references, no unions, no null. A field's "jsonschema" tag describes it; a field with omitempty
// is optional and every other one is always there.
func schemaOf(zero any) map[string]any { return typeSchema(reflect.TypeOf(zero)) }

func typeSchema(t reflect.Type) map[string]any {
	switch t.Kind() {
	case reflect.Pointer:
		return typeSchema(t.Elem())
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": typeSchema(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": typeSchema(t.Elem())}
	case reflect.Struct:
		properties := map[string]any{}
		required := structSchema(t, properties, []string{})
		return map[string]any{"type": "object", "properties": properties, "required": required}
	}
	// Only our own result types come here, and a test describes each of them.
	panic(fmt.Sprintf("describe result type %s: kind %s has no schema", t, t.Kind()))
}

// structSchema fills in the properties of a struct, those of embedded structs among them, and returns the
// names of the required ones.
func structSchema(t reflect.Type, properties map[string]any, required []string) []string {
	for f := range t.Fields() {
		if f.Anonymous {
			required = structSchema(f.Type, properties, required)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		schema := typeSchema(f.Type)
		if about := f.Tag.Get("jsonschema"); about != "" {
			schema["description"] = about
		}
		if choices := f.Tag.Get("choices"); choices != "" {
			schema["enum"] = strings.Split(choices, "|")
		}
		properties[name] = schema
		if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
			required = append(required, name)
		}
	}
	return required
}
