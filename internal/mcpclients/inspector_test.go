package mcpclients

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Exit codes of the Inspector's command line.
const (
	exitToolError   = 5 // the tool answered with isError
	exitNotPortable = 6 // --strict found a schema that some host cannot use
)

// inspect runs the Inspector's command line against `sallyport mcp` on stdio.
func (p place) inspect(t *testing.T, era string, args ...string) result {
	t.Helper()
	argv := append(tool(t, "@modelcontextprotocol/inspector/clients/launcher/build/index.js"), "--cli")
	argv = append(argv, "--config", p.servers(t, era), "--server", connection, "--protocol-era", era, "--format", "json", "-q")
	return p.run(t, "", append(argv, args...)...)
}

// answer is a tool's result, as the Inspector prints it.
type answer struct {
	Result struct {
		Content []struct {
			Type, Text string
		} `json:"content"`
		StructuredContent map[string]any `json:"structuredContent"`
		IsError           bool           `json:"isError"`
	} `json:"result"`
}

// call calls a tool through the Inspector and checks that the two forms of the answer and the exit code
// agree on whether the tool did what it is for.
func (p place) call(t *testing.T, era, name string, args map[string]any, wantError bool) map[string]any {
	t.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	r := p.inspect(t, era, "--method", "tools/call", "--tool-name", name, "--tool-args-json", string(text))
	want := 0
	if wantError {
		want = exitToolError
	}
	if r.code != want {
		t.Fatalf("%s %s: exit %d, want %d\n%s%s", name, text, r.code, want, r.stdout, r.stderr)
	}
	var a answer
	if err := json.Unmarshal([]byte(r.stdout), &a); err != nil {
		t.Fatalf("%s: %v: %q", name, err, r.stdout)
	}
	if a.Result.IsError != wantError || len(a.Result.StructuredContent) == 0 {
		t.Fatalf("%s %s: isError %v, want %v; structured %v", name, text, a.Result.IsError, wantError, a.Result.StructuredContent)
	}
	if len(a.Result.Content) == 0 || a.Result.Content[0].Type != "text" || a.Result.Content[0].Text == "" {
		t.Fatalf("%s %s: no text for hosts that show only that: %+v", name, text, a.Result.Content)
	}
	return a.Result.StructuredContent
}

// eras are the two generations of the protocol, as the Inspector calls them: with a handshake, and
// without sessions.
var eras = []string{"legacy", "modern"}

func TestInspectorFindsEveryToolPortable(t *testing.T) {
	installed(t)
	t.Parallel()
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			r := p.inspect(t, era, "--method", "tools/list", "--strict")
			if r.code == exitNotPortable {
				t.Fatalf("some schema is not portable:\n%s", r.stderr)
			}
			if r.code != 0 {
				t.Fatalf("exit %d: %s", r.code, r.stderr)
			}
			var list struct {
				Result struct {
					Tools []struct {
						Name, Title, Description  string
						InputSchema, OutputSchema map[string]any
						Annotations               map[string]any
					}
				}
			}
			if err := json.Unmarshal([]byte(r.stdout), &list); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range list.Result.Tools {
				names = append(names, tool.Name)
				if tool.Title == "" || tool.Description == "" || tool.InputSchema == nil || tool.OutputSchema == nil {
					t.Errorf("%s lacks a title, a description or a schema", tool.Name)
				}
				for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
					if _, ok := tool.Annotations[hint].(bool); !ok {
						t.Errorf("%s has no %s", tool.Name, hint)
					}
				}
			}
			slices.Sort(names)
			if !slices.Equal(names, toolNames()) {
				t.Errorf("the tools are %v,\nwant %v: the test below calls each", names, toolNames())
			}
		})
	}
}

// toolNames are the tools that steps calls.
func toolNames() []string {
	var names []string
	for _, s := range steps() {
		names = append(names, s.tool)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestInspectorCallsEveryTool(t *testing.T) {
	installed(t)
	t.Parallel()
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write(t, "unread.txt", "nobody has read this")
			for _, s := range steps() {
				got := p.call(t, era, s.tool, s.args, s.fails)
				for field, want := range s.want {
					if got[field] != want {
						t.Errorf("%s %v: %s is %v, want %v\n%v", s.tool, s.args, field, got[field], want, got)
					}
				}
			}
			if text, err := os.ReadFile(filepath.Join(p.workspace, "greeting.txt")); string(text) != "hello" {
				t.Errorf("what the command wrote is %q, %v", text, err)
			}
			if _, err := os.Stat(filepath.Join(p.home, "beside")); err == nil {
				t.Error("a refused command wrote outside the workspace")
			}
			for path, there := range map[string]bool{"unread.txt": true, "src/a.py": false, "src/b.py": true, "copy/a.py": false} {
				if _, err := os.Stat(filepath.Join(p.workspace, path)); (err == nil) != there {
					t.Errorf("%s: %v, want it there: %v", path, err, there)
				}
			}
			p.records(t)
		})
	}
}

// TestInspectorReadsResources reads all that is listed.
func TestInspectorReadsResources(t *testing.T) {
	installed(t)
	t.Parallel()
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			r := p.inspect(t, era, "--method", "resources/list")
			if r.code != 0 {
				t.Fatalf("exit %d: %s", r.code, r.stderr)
			}
			var list struct {
				Result struct {
					Resources []struct{ URI, Name, Description, MIMEType string }
				}
			}
			if err := json.Unmarshal([]byte(r.stdout), &list); err != nil {
				t.Fatal(err)
			}
			if len(list.Result.Resources) == 0 {
				t.Fatal("no resources are listed")
			}
			for _, res := range list.Result.Resources {
				r := p.inspect(t, era, "--method", "resources/read", "--uri", res.URI)
				if r.code != 0 || !strings.Contains(r.stdout, `"contents"`) {
					t.Errorf("read %s: exit %d\n%s%s", res.URI, r.code, r.stdout, r.stderr)
				}
			}
		})
	}
}
