package mcpserver

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "write the golden files anew")

// listTools asks a server for its tools.
func (w *wire) listTools(t *testing.T) []map[string]any {
	t.Helper()
	m := w.reply(t, w.send(t, "tools/list", nil), nil)
	var out []map[string]any
	for _, tool := range m.Result["tools"].([]any) {
		out = append(out, tool.(map[string]any))
	}
	return out
}

// TestToolsAreAContract: names, arguments, results and hints change only on purpose. -update writes what is.
func TestToolsAreAContract(t *testing.T) {
	t.Parallel()
	got, err := json.MarshalIndent(connect(t, newWorld(t, "", nil).Server).listTools(t), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	const file = "testdata/tools.json"
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("run with -update if this is meant (-want +got):\n%s", cmp.Diff(string(want), string(got)))
	}
}

// TestToolsAreDescribed: every tool has what clients and their checks of portability ask for.
func TestToolsAreDescribed(t *testing.T) {
	t.Parallel()
	var forbidden func(t *testing.T, tool string, v any)
	forbidden = func(t *testing.T, tool string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, key := range []string{"$ref", "$defs", "anyOf", "oneOf", "allOf", "not", "if", "patternProperties"} {
				if _, ok := v[key]; ok {
					t.Errorf("%s: a schema uses %s, which not every host takes", tool, key)
				}
			}
			if _, ok := v["type"].([]any); ok {
				t.Errorf("%s: a schema has several types in one", tool)
			}
			for _, e := range v {
				forbidden(t, tool, e)
			}
		case []any:
			for _, e := range v {
				forbidden(t, tool, e)
			}
		}
	}
	tools := connect(t, newWorld(t, "", nil).Server).listTools(t)
	if len(tools) != 19 {
		t.Errorf("%d tools, want 19", len(tools))
	}
	for _, tool := range tools {
		name := tool["name"].(string)
		for _, key := range []string{"title", "description", "inputSchema", "outputSchema", "annotations"} {
			if tool[key] == nil || tool[key] == "" {
				t.Errorf("%s has no %s", name, key)
			}
		}
		for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
			if _, ok := tool["annotations"].(map[string]any)[hint].(bool); !ok {
				t.Errorf("%s has no %s", name, hint)
			}
		}
		input := tool["inputSchema"].(map[string]any)
		if input["additionalProperties"] != false {
			t.Errorf("%s takes arguments that it does not know", name)
		}
		for p, schema := range input["properties"].(map[string]any) {
			if d, _ := schema.(map[string]any)["description"].(string); d == "" {
				t.Errorf("%s: %s is not described", name, p)
			}
		}
		forbidden(t, name, input)
		forbidden(t, name, tool["outputSchema"])
	}
}

// schemas compiles the output schemas of a server, by tool.
func (w *wire) schemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	out := map[string]*jsonschema.Schema{}
	for _, tool := range w.listTools(t) {
		name := tool["name"].(string)
		c := jsonschema.NewCompiler()
		if err := c.AddResource(name, tool["outputSchema"]); err != nil {
			t.Fatal(err)
		}
		s, err := c.Compile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = s
	}
	return out
}

// TestResultsFitTheirSchemas: of each tool a call that works, one that is refused or fails, and one whose
// arguments make no sense. Clients validate results and throw away those that do not fit.
func TestResultsFitTheirSchemas(t *testing.T) {
	t.Parallel()
	world := newWorld(t, `commands: {deny: ["touch mark"]}`+"\n", nil)
	world.write(t, "a.txt", "one\ntwo\n")
	world.write(t, "b.txt", "one\n2\n")
	world.write(t, "d/a.txt", "x\n")
	world.write(t, "e/b.txt", "y\n")
	world.write(t, "m.py", "\"\"\"A module.\"\"\"\n\ndef f(x):\n    \"\"\"Does it.\"\"\"\n    return x\n")
	w := connect(t, world.Server)
	schemas := w.schemas(t)
	tried := map[string]int{}
	try := func(tool string, fails bool, args map[string]any) callResult {
		t.Helper()
		tried[tool]++
		r := w.call(t, tool, args)
		if r.IsError != fails || r.is("success") == fails {
			t.Errorf("%s %v: error %v, success %v: %s", tool, args, r.IsError, r.is("success"), r.Text)
		}
		if r.Text == "" || r.Fields == nil {
			t.Errorf("%s %v: text %q, fields %v", tool, args, r.Text, r.Fields)
		}
		if err := schemas[tool].Validate(r.Raw["structuredContent"]); err != nil {
			t.Errorf("%s %v: %v", tool, args, err)
		}
		if id := r.str("decision_id"); id != "" && !strings.Contains(r.Text, id) && r.Fields["reasons"] != nil {
			t.Errorf("%s %v: the text lacks the decision", tool, args)
		}
		return r
	}
	nonsense := map[string]any{"nonsense": 1}

	try("execute_command", false, map[string]any{"command": "echo x"})
	try("execute_command", true, map[string]any{"command": "touch mark"})
	try("check_command", false, map[string]any{"command": "touch mark"})
	id := try("start_background_shell", false, map[string]any{"command": "sleep 1000"}).str("shell_id")
	try("start_background_shell", true, map[string]any{"command": "touch mark"})
	try("get_background_shell_output", false, map[string]any{"shell_id": id})
	try("get_background_shell_status", false, map[string]any{"shell_id": id})
	try("list_background_shells", false, nil)
	try("kill_background_shell", false, map[string]any{"shell_id": id})
	try("kill_background_shell", false, map[string]any{"shell_id": id})
	try("get_background_shell_status", false, map[string]any{"shell_id": id})
	for _, tool := range []string{"get_background_shell_output", "get_background_shell_status", "kill_background_shell"} {
		try(tool, true, map[string]any{"shell_id": "none"})
	}
	try("read_file", false, map[string]any{"path": "a.txt"})
	try("read_file", false, map[string]any{"path": "a.txt", "offset": 1, "line_count": 1})
	try("read_file", true, map[string]any{"path": "none.txt"})
	try("write_file", false, map[string]any{"path": "new/c.txt", "content": "c"})
	try("write_file", true, map[string]any{"path": "/etc/sallyport-test", "content": "c"})
	edit := map[string]any{"old_text": "c", "new_text": "d"}
	try("edit_file", false, map[string]any{"path": "new/c.txt", "edits": []any{edit}})
	try("edit_file", true, map[string]any{"path": "new/c.txt", "edits": []any{edit}})
	try("edit_file", true, map[string]any{"path": "new/c.txt", "edits": []any{map[string]any{"old": "c"}}})
	try("list_directory", false, nil)
	try("list_directory", true, map[string]any{"path": "a.txt"})
	try("search_files", false, map[string]any{"texts": []any{"a"}})
	try("search_files", true, map[string]any{"texts": []any{}})
	try("compare_files", false, map[string]any{"file1": "a.txt", "file2": "b.txt"})
	try("compare_files", true, map[string]any{"file1": "a.txt", "file2": "none"})
	try("compare_directories", false, map[string]any{"dir1": "d", "dir2": "e", "show_content_diff": true})
	try("compare_directories", true, map[string]any{"dir1": "d", "dir2": "/root/none"})
	try("copy_file", false, map[string]any{"source_path": "a.txt", "destination_path": "copy.txt"})
	try("copy_file", false, map[string]any{"source_path": "d", "destination_path": "copy-of-d"})
	try("copy_file", true, map[string]any{"source_path": "a.txt", "destination_path": "copy.txt"})
	try("copy_files_batch", false, map[string]any{"source_base_path": "d", "destination_base_path": "f", "include_patterns": []any{"*.txt"}})
	try("copy_files_batch", true, map[string]any{"source_base_path": "d", "destination_base_path": "/etc/none"})
	try("read_docstring", false, map[string]any{"file_path": "m.py", "function_name": "f"})
	try("read_docstring", false, map[string]any{"file_path": "m.py"})
	try("read_docstring", true, map[string]any{"file_path": "m.py", "function_name": "none"})
	try("delete_file", false, map[string]any{"path": "copy.txt"})
	try("delete_file", true, map[string]any{"path": "m.py/none"})
	try("delete_files_batch", false, map[string]any{"base_path": "f", "dry_run": true})
	try("delete_files_batch", false, map[string]any{"base_path": "f"})
	try("delete_files_batch", true, map[string]any{"base_path": "e"})
	for tool := range schemas {
		try(tool, true, nonsense)
		if tried[tool] < 2 {
			t.Errorf("%s was not tried", tool)
		}
	}
}
