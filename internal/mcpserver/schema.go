package mcpserver

import (
	"fmt"
	"reflect"
	"strings"
)

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
