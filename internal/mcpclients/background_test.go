package mcpclients

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/await"
)

// tool calls a tool through the daemon and returns its structured result.
func (m mcpdo) tool(t *testing.T, name string, args ...string) object {
	t.Helper()
	r := m.do(t, append([]string{"tools/call", name}, args...)...)
	var a struct {
		StructuredContent object `json:"structuredContent"`
	}
	if err := json.Unmarshal([]byte(r.stdout), &a); err != nil || len(a.StructuredContent) == 0 {
		t.Fatalf("%s %v: exit %d\n%s%s", name, args, r.code, r.stdout, r.stderr)
	}
	return a.StructuredContent
}

// TestBackgroundShellThroughARealClient starts a shell, polls it, and ends it: the calls are of one
// connection, but each of a process of its own.
func TestBackgroundShellThroughARealClient(t *testing.T) {
	installed(t)
	t.Parallel()
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			m := dial(t, p, era, "off")
			started := m.tool(t, "start_background_shell", "command:=i=0; while true; do echo line $((i=i+1)); sleep 0.1; done")
			id, ok := started["shell_id"].(string)
			if !ok || started["status"] != "running" {
				t.Fatalf("started: %v", started)
			}
			of := "shell_id:=" + id
			var seen strings.Builder
			next := "0"
			await.True(t, "the shell has written", func() bool {
				out := m.tool(t, "get_background_shell_output", of, "stdout_offset:="+next)
				seen.WriteString(out["stdout"].(string))
				offset, err := json.Marshal(out["stdout_next"])
				if err != nil {
					t.Fatal(err)
				}
				next = string(offset)
				return strings.Contains(seen.String(), "line 5\n")
			})
			if got := seen.String(); !strings.HasPrefix(got, "line 1\nline 2\nline 3\nline 4\nline 5\n") {
				t.Errorf("polling lost or repeated lines: %q", got)
			}
			if status := m.tool(t, "get_background_shell_status", of); status["status"] != "running" {
				t.Errorf("status: %v", status)
			}
			if list := m.tool(t, "list_background_shells"); list["count"] != 1.0 {
				t.Errorf("list: %v", list)
			}
			if killed := m.tool(t, "kill_background_shell", of); killed["status"] != "killed" || killed["signal"] == "" {
				t.Errorf("killed: %v", killed)
			}
			if status := m.tool(t, "get_background_shell_status", of); status["status"] != "killed" {
				t.Errorf("status after the kill: %v", status)
			}
			if outcomes := ofKind(p.records(t), "outcome"); len(outcomes) != 1 || outcomes[0].Killed == "" {
				t.Errorf("on record: %+v", outcomes)
			}
		})
	}
}
