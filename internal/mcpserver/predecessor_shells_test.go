package mcpserver

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/background"
)

// start starts a background shell and returns its id.
func (w *wire) start(t *testing.T, args map[string]any) string {
	t.Helper()
	r := w.call(t, "start_background_shell", args)
	if r.IsError || r.str("status") != "running" || !strings.HasPrefix(r.str("shell_id"), "shell_") || r.num("pid") <= 0 {
		t.Fatalf("start: %s", r.Text)
	}
	return r.str("shell_id")
}

// ended waits until a shell has ended and returns its output.
func (w *wire) ended(t *testing.T, id string) callResult {
	t.Helper()
	var r callResult
	await.True(t, "it has ended", func() bool {
		r = w.call(t, "get_background_shell_output", map[string]any{"shell_id": id})
		return r.str("status") != "running"
	})
	return r
}

func TestPredecessorBackgroundOutput(t *testing.T) {
	t.Parallel()
	world := newWorld(t, "", nil)
	world.write(t, "sub/test.txt", "")
	world.write(t, ".venv/bin/python", "")
	world.write(t, ".venv/pyvenv.cfg", "")
	w := connect(t, world.Server)
	for name, c := range map[string]struct {
		args                   map[string]any
		stdout, stderr, status string
		code                   float64
	}{
		"two lines":                   {map[string]any{"command": "echo one; echo two"}, "one\ntwo\n", "", "stopped", 0},
		"stderr":                      {map[string]any{"command": "echo bad >&2"}, "", "bad\n", "stopped", 0},
		"exit 1":                      {map[string]any{"command": "exit 1"}, "", "", "failed", 1},
		"cwd":                         {map[string]any{"command": "ls", "work_dir": "sub"}, "test.txt\n", "", "stopped", 0},
		"variable":                    {map[string]any{"command": "X=seen; export X; printenv X"}, "seen\n", "", "stopped", 0},
		"the environment of a venv":   {map[string]any{"command": `echo "$VIRTUAL_ENV"`}, world.dir + "/.venv\n", "", "stopped", 0}, // it had none in the background
		"a partial line":              {map[string]any{"command": "printf partial"}, "partial", "", "stopped", 0},
		"invalid UTF-8 loses nothing": {map[string]any{"command": `printf 'a\xffb'`}, "a\ufffdb", "", "stopped", 0},
		"ends by a signal":            {map[string]any{"command": "kill -INT $$"}, "", "", "killed", 130},
	} {
		r := w.ended(t, w.start(t, c.args))
		if r.str("stdout") != c.stdout || r.str("stderr") != c.stderr || r.str("status") != c.status || r.num("exit_code") != c.code {
			t.Errorf("%s: %v", name, r.Fields)
		}
	}
}

func TestPredecessorBackgroundKill(t *testing.T) {
	t.Parallel()
	w := connect(t, newWorld(t, "limits: {grace: 10m}\n", nil).Server) // TERM is enough, whenever it arrives
	id := w.start(t, map[string]any{"command": "sleep 1000"})
	before := w.call(t, "get_background_shell_status", map[string]any{"shell_id": id})
	if before.str("status") != "running" || before.Fields["exit_code"] != nil || before.str("command") != "sleep 1000" || before.str("cwd") == "" {
		t.Errorf("running: %v", before.Fields)
	}
	if _, err := time.Parse(time.RFC3339, before.str("start_time")); err != nil {
		t.Errorf("start time: %v", err)
	}
	r := w.call(t, "kill_background_shell", map[string]any{"shell_id": id})
	if r.IsError || r.str("status") != "killed" || r.str("signal") != "SIGTERM" {
		t.Errorf("kill: %s", r.Text)
	}
	after := w.call(t, "get_background_shell_status", map[string]any{"shell_id": id})
	if after.str("status") != "killed" || after.Fields["exit_code"] == nil || after.num("duration_seconds") < before.num("duration_seconds") {
		t.Errorf("killed: %v", after.Fields)
	}
	r = w.call(t, "kill_background_shell", map[string]any{"shell_id": id})
	if r.IsError || r.str("message") != "Process already terminated" {
		t.Errorf("again: %s", r.Text)
	}
	id = w.start(t, map[string]any{"command": "exit 3"})
	w.ended(t, id)
	r = w.call(t, "kill_background_shell", map[string]any{"shell_id": id})
	if r.IsError || r.str("status") != "failed" || r.str("signal") != "" || r.str("message") == "" {
		t.Errorf("after its end: %s", r.Text) // the predecessor said stopped until somebody asked
	}
	for _, tool := range []string{"get_background_shell_output", "get_background_shell_status", "kill_background_shell"} {
		if r := w.call(t, tool, map[string]any{"shell_id": "shell_none"}); !r.IsError || !strings.Contains(r.str("error"), "not found") {
			t.Errorf("%s of an unknown shell: %s", tool, r.Text)
		}
	}
}

func TestPredecessorBackgroundLimitAndList(t *testing.T) {
	t.Parallel()
	w := connect(t, newWorld(t, "limits: {background: 2}\n", nil).Server)
	ids := []string{w.start(t, map[string]any{"command": "sleep 1000"}), w.start(t, map[string]any{"command": "sleep 1001"})}
	r := w.call(t, "start_background_shell", map[string]any{"command": "sleep 1002"})
	if !r.IsError || !strings.Contains(r.str("error"), "2 may run at once") || r.str("shell_id") != "" {
		t.Errorf("the third: %s", r.Text)
	}
	list := w.call(t, "list_background_shells", nil)
	if list.num("count") != 2 || !strings.Contains(list.Text, "sleep 1001") {
		t.Errorf("list: %s", list.Text)
	}
	for i, s := range list.Fields["shells"].([]any) {
		if got := s.(map[string]any)["shell_id"]; got != ids[i] {
			t.Errorf("%d: %v, want %s", i, got, ids[i])
		}
	}
	w.call(t, "kill_background_shell", map[string]any{"shell_id": ids[0]})
	w.start(t, map[string]any{"command": "sleep 1003"})
}

// TestBackgroundPassesTheSamePolicies: in the predecessor the lists did not hold there.
func TestBackgroundPassesTheSamePolicies(t *testing.T) {
	t.Parallel()
	world := newWorld(t, `commands: {deny: ["touch mark"]}`+"\n", nil)
	w := connect(t, world.Server)
	r := w.call(t, "start_background_shell", map[string]any{"command": "touch mark"})
	if !r.IsError || r.str("shell_id") != "" || !slices.Contains(r.rules(), "filters/denied") || r.str("decision_id") == "" || world.has("mark") {
		t.Errorf("got %s", r.Text)
	}
	w.ended(t, w.start(t, map[string]any{"command": "touch other"}))
	if !world.has("other") {
		t.Error("and what is allowed does not run")
	}
}

// TestReadingOnFromAnOffset: polling does not send everything again.
func TestReadingOnFromAnOffset(t *testing.T) {
	t.Parallel()
	world := newWorld(t, "limits: {ring_lines: 5}\n", nil)
	w := connect(t, world.Server)
	id := w.start(t, map[string]any{"command": "seq 10; until test -e go; do sleep 0.01; done; echo more"})
	first := callResult{}
	await.True(t, "it wrote ten lines", func() bool {
		first = w.call(t, "get_background_shell_output", map[string]any{"shell_id": id})
		return first.num("stdout_total") == 21
	})
	if first.str("stdout") != "6\n7\n8\n9\n10\n" || first.num("stdout_dropped") != 10 || first.num("stdout_next") != 21 {
		t.Errorf("a ring of 5 lines: %v", first.Fields)
	}
	world.write(t, "go", "")
	w.ended(t, id)
	second := w.call(t, "get_background_shell_output", map[string]any{"shell_id": id, "stdout_offset": first.num("stdout_next")})
	if second.str("stdout") != "more\n" || second.num("stdout_dropped") != 0 {
		t.Errorf("read on: %v", second.Fields)
	}
	part := w.call(t, "get_background_shell_output", map[string]any{"shell_id": id, "stdout_offset": 21, "max_bytes": 2})
	if n := len(part.str("stdout")); n == 0 || n > 2 {
		t.Errorf("at most 2 bytes: %v", part.Fields)
	}
	beyond := w.call(t, "get_background_shell_output", map[string]any{"shell_id": id, "stdout_offset": 1 << 40})
	if !beyond.IsError || !strings.Contains(beyond.str("error"), "offset") {
		t.Errorf("beyond the end: %s", beyond.Text)
	}
}

// TestConcurrentShellsKeepApart: what one writes never shows up in another.
func TestConcurrentShellsKeepApart(t *testing.T) {
	t.Parallel()
	w := connect(t, newWorld(t, "", nil).Server)
	ids := make([]string, 5)
	for i := range ids {
		ids[i] = w.start(t, map[string]any{"command": fmt.Sprintf("echo shell %d", i)})
	}
	for i, id := range ids {
		if r := w.ended(t, id); r.str("stdout") != fmt.Sprintf("shell %d\n", i) {
			t.Errorf("%d: %q", i, r.str("stdout"))
		}
	}
}

// TestTheSetBackgroundNeedsAManager: a server without one does not promise the tools.
func TestTheSetBackgroundNeedsAManager(t *testing.T) {
	t.Parallel()
	o := Options{Gate: gate{}, Approver: NewApprover(), Redact: func(s string) string { return s }}
	if _, err := New(o); err == nil {
		t.Error("made without a manager")
	}
	o.Sets = []string{"shell", "files"}
	if _, err := New(o); err != nil {
		t.Error(err)
	}
	o.Background, o.Sets = background.New(background.Options{}), []string{"shell", "none"}
	if _, err := New(o); err == nil {
		t.Error("made with a set that does not exist")
	}
}
