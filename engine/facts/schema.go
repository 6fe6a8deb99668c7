package facts

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"
)

//go:generate go run ./schemagen ../../policies/schemas/input.json

// Schema returns the JSON Schema of the policy input, made from the Go types: no field that is
// not listed, every field required, closed lists of values where the values are closed. It keeps
// to what the type checker of OPA reads (opa check -s).
func Schema() ([]byte, error) {
	s := schemaOf(reflect.TypeFor[Input](), "")
	s["$schema"] = "http://json-schema.org/draft-07/schema#"
	s["title"] = "Sallyport policy input, version 1"
	s["properties"].(map[string]any)["version"] = map[string]any{"type": "integer", "const": Version}
	out, err := json.MarshalIndent(s, "", "  ")
	return append(out, '\n'), err
}

// values lists the closed sets of strings by the JSON path of their field, without indexes.
func values(path string) []string {
	switch path {
	case ".commands.effects":
		return effectNames[:]
	case ".commands.flags":
		return flagNames
	case ".paths.labels":
		return labelNames
	}
	return strings.Split(map[string]string{
		".request.work_dir_state": "dir missing not_a_dir unreadable",
		".shell.error":            " empty too_long nul_byte carriage_return invalid_utf8 control_character nesting syntax",
		".shell.certainty":        "exact partial unknown",
		".shell.budget":           " commands depth steps",
		".shell.legacy":           "rm_rf_root mv_dev_null dd disk_redirect fork_bomb sudo su chown chmod",
		".commands.certainty":     "exact partial unknown",
		".commands.code.from":     " argument stdin heredoc file session",
		".commands.code.origin":   " text file decoded network generated dynamic",
		".paths.access":           "read write delete execute",
		".paths.source":           "argument redirect script code tool",
		".paths.certainty":        "exact partial unknown",
		".paths.type":             " file dir symlink block_device char_device socket fifo",
		".paths.zone":             "workspace context temporary protected outside system home credential self",
		".paths.permission":       "read write none",
		".paths.seen":             "read created none",
	}[path], " ")
}

func schemaOf(t reflect.Type, path string) map[string]any {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case t.Kind() == reflect.Struct:
		properties, required := map[string]any{}, []string{}
		for i := range t.NumField() {
			name := t.Field(i).Tag.Get("json")
			properties[name] = schemaOf(t.Field(i).Type, path+"."+name)
			required = append(required, name)
		}
		slices.Sort(required)
		return map[string]any{"type": "object", "additionalProperties": false, "properties": properties, "required": required}
	case t.Kind() == reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem(), path)}
	case t.Kind() == reflect.Bool:
		return map[string]any{"type": "boolean"}
	case t.Kind() == reflect.Int:
		return map[string]any{"type": "integer"}
	case t.Kind() == reflect.Float64:
		return map[string]any{"type": "number"}
	}
	s := map[string]any{"type": "string"}
	if v := values(path); v[0] != "" || len(v) > 1 {
		s["enum"] = v
	}
	return s
}
