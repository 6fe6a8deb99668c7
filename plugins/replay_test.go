package plugins_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/plugins"
)

// recordsOf makes a log of harmless commands, under a configuration.
func recordsOf(t testing.TB, l *config.Loaded, commands ...string) {
	t.Helper()
	s, err := plugins.Assemble(t.Context(), l, plugins.Options{Session: "s", Version: "test"}.Unhurried())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range commands {
		if _, err := s.Do(t.Context(), engine.Request{Tool: "execute_command", Command: c}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// policy writes a custom rule beside the configuration and returns its directory.
func policy(t testing.TB, l *config.Loaded, rule string) string {
	t.Helper()
	dir := filepath.Join(filepath.Dir(l.File), "policy")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text := "# METADATA\n# title: X\n# custom:\n#   severity: low\n#   remediation: None.\npackage custom.x\n\n" + rule + "\n"
	if err := os.WriteFile(filepath.Join(dir, "x.rego"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestReplay(t *testing.T) {
	t.Parallel()
	l := load(t, "commands: {deny: [whoami]}\nexemptions: [{rule: filters/denied, match: 'whoami -x', reason: test, expires: 2100-01-01}]\n")
	recordsOf(t, l, "echo a", "whoami", "whoami -x", "ls x", "echo a")
	log := audit.Read(string(l.Audit.Dir), audit.Filter{})

	t.Run("under the same policies nothing changes", func(t *testing.T) {
		t.Parallel()
		read := 0
		o := plugins.ReplayOptions{Keep: plugins.Replayed.Changed, Read: func(n int) { read += n }}
		got, err := o.Judge(t.Context(), l, log)
		if err != nil || got.Judged != 5 || got.Decisions != 5 || len(got.All) != 0 || read == 0 {
			t.Errorf("got %+v, %v after %d bytes", got, err, read)
		}
	})
	t.Run("a new rule and other patterns", func(t *testing.T) {
		t.Parallel()
		other := *l
		other.Commands, other.Exemptions = config.Commands{}, nil
		other.Policies = []string{policy(t, l, "deny contains {\"command\": i} if input.commands[i].name == \"echo\"")}
		got, err := plugins.ReplayOptions{Keep: plugins.Replayed.Changed}.Judge(t.Context(), &other, log)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, r := range got.All {
			lines = append(lines, fmt.Sprintf("%s: %s %s +%v -%v", r.Command, r.Before, r.After, r.More, r.Less))
		}
		want := []string{"echo a: allow deny +[custom/x] -[]", "whoami: deny allow +[] -[filters/denied]", "echo a: allow deny +[custom/x] -[]"}
		if diff := cmp.Diff(want, lines); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
	t.Run("a time that is later", func(t *testing.T) {
		t.Parallel()
		got, err := plugins.ReplayOptions{Since: time.Now().Add(time.Hour)}.Judge(t.Context(), l, log)
		if err != nil || got.Decisions != 0 {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

// Requests that are the same but for their time are judged each for itself where a policy looks at the time.
func TestReplayHeedsTheTime(t *testing.T) {
	t.Parallel()
	l := load(t, "")
	recordsOf(t, l, "echo a", "echo a")
	lines := records(t, l)
	var first struct {
		Input struct {
			Request struct {
				Time string `json:"time"`
			} `json:"request"`
		} `json:"input"`
	}
	if err := json.Unmarshal(lines[0], &first); err != nil {
		t.Fatal(err)
	}
	l.Policies = []string{policy(t, l, fmt.Sprintf("deny contains {} if input.request.time == %q", first.Input.Request.Time))}
	got, err := plugins.ReplayOptions{Keep: plugins.Replayed.Changed}.Judge(t.Context(), l, audit.Read(string(l.Audit.Dir), audit.Filter{}))
	if err != nil || got.Judged != 2 || len(got.All) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// A rule that fails is a fault, and denies; records that cannot be judged are counted and never taken for unchanged.
func TestReplayOfWhatCannotBeJudged(t *testing.T) {
	t.Parallel()
	l := load(t, "")
	recordsOf(t, l, "echo a")
	line := records(t, l)[0]
	file := filepath.Join(t.TempDir(), "copy.jsonl")
	text := bytes.Join([][]byte{
		line,
		[]byte("no record"),
		[]byte(strings.Replace(string(line), `"input":{`, `"input":null,"was":{`, 1)),
		[]byte(strings.Replace(string(line), `"input":{"version":1`, `"input":{"version":2`, 1)),
		[]byte(strings.Replace(string(line), `"input":{"version":1`, `"input":{"version":1,"novelty":true`, 1)),
		[]byte(strings.Replace(string(line), `"input":{"version":1`, `"cut":[{"at":"/input/commands","items":9}],"input":{"version":1`, 1)),
		nil,
	}, []byte("\n"))
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	l.Policies = []string{policy(t, l, "deny contains {} if 1 / count(input.paths) == 1")}
	var complaints []string
	got, err := plugins.ReplayOptions{Keep: plugins.Replayed.Changed, Complain: func(err error) { complaints = append(complaints, err.Error()) }}.Judge(t.Context(), l, audit.ReadFile(file, audit.Filter{}))
	if err != nil || got.Decisions != 5 || got.Judged != 1 || got.NoInput != 1 || got.Cut != 1 || got.Broken != 3 || len(complaints) != 3 {
		t.Fatalf("got %+v, %v, complaints %q", got, err, complaints)
	}
	for _, want := range []string{"not a record", "another version of sallyport: 2, not 1", `another version of sallyport: json: unknown field "novelty"`} {
		if !slices.ContainsFunc(complaints, func(c string) bool { return strings.Contains(c, want) }) {
			t.Errorf("nothing complains of %q: %q", want, complaints)
		}
	}
	if r := got.All[0]; r.After != engine.Deny || !strings.Contains(r.Fault, "divide by zero") {
		t.Errorf("got %+v", r)
	}
	for _, err := range audit.ReadFile(file+".none", audit.Filter{}) {
		if err == nil {
			t.Error("a file that is not there has records")
		}
	}
}

// records are the lines of decisions in a log.
func records(t testing.TB, l *config.Loaded) [][]byte {
	t.Helper()
	var lines [][]byte
	for e, err := range audit.Read(string(l.Audit.Dir), audit.Filter{Kind: engine.KindDecision}) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, e.Raw)
	}
	return lines
}
