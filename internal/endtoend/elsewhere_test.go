package endtoend

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestElsewhere runs commands through a supervisor as an operator sets it up: it lies beside sallyport,
// and the configuration names a command line.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	workspace, env := home(t)
	there := filepath.Join(filepath.Dir(workspace), "there")
	if err := os.Mkdir(there, 0o755); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(filepath.Dir(workspace), "sallyport.yaml")
	text := `version: 1
workspace: ` + workspace + `
environment: {env: [GIVEN]}
runners:
  box: {command: [sallyport-supervisor], workspace: ` + there + `}
  gone: {command: [sh, -c, "echo no route to host >&2; exit 255"]}
`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env = append(env, "GIVEN=by name", "HIDDEN=secret")
	at := func(words ...string) result {
		return run(t, workspace, env, append([]string{program, "--config", config}, words...)...)
	}
	if r := at("exec", "--runner", "box", "-c", `pwd; echo "$GIVEN$HIDDEN"; echo mine >file; exit 3`); r.code != 3 || r.stdout != there+"\nby name\n" {
		t.Errorf("exec: %+v", r)
	}
	if b, err := os.ReadFile(filepath.Join(there, "file")); err != nil || string(b) != "mine\n" {
		t.Errorf("file: %q, %v", b, err)
	}
	// It is judged by what is there.
	if r := at("exec", "--runner", "box", "-c", "rm -rf "+workspace); r.code != 126 || !strings.Contains(r.stderr, "denied") {
		t.Errorf("a command outside of the workspace there: %+v", r)
	}
	if r := at("exec", "--runner", "box", "--format", "json", "--timeout", "1s", "--", "sleep", "60"); r.code != 124 || !strings.Contains(r.stdout, `"timed_out":true`) {
		t.Errorf("time limit: %+v", r)
	}
	if r := at("exec", "--runner", "gone", "--", "true"); r.code != 125 || !strings.Contains(r.stderr, "says: no route to host") {
		t.Errorf("a machine that cannot be reached: %+v", r)
	}
	if r := at("exec", "--runner", "box2", "--", "true"); r.code != 125 || !strings.Contains(r.stderr, "available: local, docker, docker-sudo, box, gone") {
		t.Errorf("a runner that is not there: %+v", r)
	}
	log := at("audit", "list", "--format", "json")
	if r := at("audit", "verify"); r.code != 0 || !strings.Contains(log.stdout, `"box"`) {
		t.Errorf("log: %+v\n%s", r, log.stdout)
	}

	if err := os.WriteFile(config, []byte(text+"runner: box\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var findings []struct{ Check, State, Detail string }
	r := at("doctor", "--format", "json")
	if err := json.Unmarshal([]byte(r.stdout), &findings); err != nil || r.code != 0 {
		t.Fatalf("doctor: %v, %+v", err, r)
	}
	told := false
	for _, f := range findings {
		told = told || f.Check == "supervisor" && f.State == "ok" && strings.HasPrefix(f.Detail, "supervisor ")
	}
	if !told {
		t.Errorf("doctor tells nothing of the supervisor: %s", r.stdout)
	}
	if r := at("check", "-c", "cat file"); r.code != 0 {
		t.Errorf("check: %+v", r)
	}
}
