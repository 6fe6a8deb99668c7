package mcpclients

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// script and report are those of testdata/gosdk.
type (
	script struct {
		Revision string    `json:"revision"`
		Answer   string    `json:"answer"`
		Calls    []sdkCall `json:"calls"`
		Read     []string  `json:"read"`
		Mark     string    `json:"mark"`
	}
	sdkCall struct {
		Tool      string         `json:"tool"`
		Arguments map[string]any `json:"arguments"`
		CancelOn  string         `json:"cancel_on,omitempty"`
	}
	report struct {
		Revision, Server, Instructions string
		Tools                          []struct{ Name string }
		Results                        []struct {
			Result *struct {
				StructuredContent map[string]any `json:"structuredContent"`
				IsError           bool           `json:"isError"`
			}
			Error string
		}
		Asked     []string
		Resources map[string]string
		Progress  int
	}
)

// revisions of the protocol that the SDK is made to speak.
var revisions = []string{"2026-07-28", "2025-11-25", "2025-06-18"}

// play runs a script with the official Go SDK against `sallyport mcp` on stdio.
func (p place) play(t *testing.T, s script) report {
	t.Helper()
	return p.playAt(t, s, program, "mcp")
}

// playAt runs a script against the server that the arguments of testdata/gosdk name.
func (p place) playAt(t *testing.T, s script, server ...string) report {
	t.Helper()
	client := goSDK(t)
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var r report
	out := p.mustRun(t, string(text), append([]string{client}, server...)...)
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if r.Revision != s.Revision {
		t.Errorf("the session speaks %s, want %s", r.Revision, s.Revision)
	}
	if len(r.Results) != len(s.Calls) {
		t.Fatalf("%d results of %d calls", len(r.Results), len(s.Calls))
	}
	return r
}

// goSDK returns the path of the client with the Go SDK. It skips the test in a short run, and where its
// modules cannot be had.
func goSDK(t *testing.T) string {
	t.Helper()
	leftout.Full(t, leftout.Packages)
	client, err := buildGoSDK()
	if err != nil {
		leftout.Skip(t, leftout.Packages, fmt.Sprintf("no client with the Go SDK: make mcp-clients: %v", err))
	}
	return client
}

// inEachRevision runs a test for each, beside each other.
func inEachRevision(t *testing.T, test func(t *testing.T, p place, revision string)) {
	goSDK(t)
	t.Parallel()
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			test(t, newPlace(t), revision)
		})
	}
}

func execute(command string) sdkCall {
	return sdkCall{Tool: "execute_command", Arguments: map[string]any{"command": command}}
}

func TestGoSDKSession(t *testing.T) {
	inEachRevision(t, func(t *testing.T, p place, revision string) {
		r := p.play(t, script{Revision: revision, Read: []string{"*"}, Calls: []sdkCall{execute("echo hello"), execute("rm -rf /")}})
		if r.Server != "sallyport" || r.Instructions == "" {
			t.Errorf("server %q, instructions %q", r.Server, r.Instructions)
		}
		var names []string
		for _, tool := range r.Tools {
			names = append(names, tool.Name)
		}
		slices.Sort(names)
		if !slices.Equal(names, toolNames()) {
			t.Errorf("tools %v", names)
		}
		if out := r.Results[0].Result; out == nil || out.IsError || out.StructuredContent["stdout"] != "hello\n" {
			t.Errorf("echo: %+v", r.Results[0])
		}
		if out := r.Results[1].Result; out == nil || !out.IsError || out.StructuredContent["effect"] != "deny" {
			t.Errorf("a refused command: %+v", r.Results[1])
		}
		if len(r.Resources) == 0 {
			t.Error("no resources")
		}
		for uri, text := range r.Resources {
			if text == "" {
				t.Errorf("%s is empty", uri)
			}
		}
		if all := p.records(t); len(ofKind(all, "decision")) != 2 || len(ofKind(all, "outcome")) != 1 {
			t.Errorf("on record: %+v", all)
		}
	})
}

func TestGoSDKProgress(t *testing.T) {
	inEachRevision(t, func(t *testing.T, p place, revision string) {
		mark := filepath.Join(p.workspace, "progress")
		calls := []sdkCall{execute(untilProgress + "echo done")}
		r := p.play(t, script{Revision: revision, Mark: mark, Calls: calls})
		if out := r.Results[0].Result; out == nil || out.StructuredContent["stdout"] != "done\n" {
			t.Fatalf("%+v", r.Results[0])
		}
		if r.Progress == 0 {
			t.Error("a command that takes long tells of no progress")
		}
	})
}

// untilProgress is the start of a command that goes on when its client has been told of progress.
const untilProgress = "until [ -e progress ]; do sleep 0.1; done; "

// untilGone waits for the end of the process that the call before has started.
const untilGone = `while ps -o stat= -p "$(cat child)" | grep -q '^[^Z]'; do sleep 0.05; done; echo gone`

// TestGoSDKCancel cancels a call when its command runs. The next call of the same session waits until
// what that command had started is gone, and would run out of time otherwise.
func TestGoSDKCancel(t *testing.T) {
	inEachRevision(t, func(t *testing.T, p place, revision string) {
		started := filepath.Join(p.workspace, "started")
		long := execute("sleep 3600 & echo $! > child; touch started; wait")
		long.CancelOn = started
		gone := execute(untilGone)
		gone.Arguments["timeout"] = 300
		r := p.play(t, script{Revision: revision, Calls: []sdkCall{long, gone}})
		if !strings.Contains(r.Results[0].Error, "cancel") {
			t.Errorf("the cancelled call: %+v", r.Results[0])
		}
		if out := r.Results[1].Result; out == nil || out.StructuredContent["stdout"] != "gone\n" {
			t.Errorf("the child of the cancelled command: %+v", r.Results[1])
		}
		all := p.records(t)
		if len(ofKind(all, "outcome")) != 2 || killed(all, 0) == "" {
			t.Errorf("on record: %+v", all)
		}
	})
}

// killed is why the command of the n-th decision was ended. The outcomes are not in the order of the decisions: that what a
// command had started is gone can be seen before its end is on record.
func killed(all []record, n int) string {
	decisions := ofKind(all, "decision")
	for _, o := range ofKind(all, "outcome") {
		if n < len(decisions) && o.Decision == decisions[n].Decision {
			return o.Killed
		}
	}
	return ""
}

func TestGoSDKElicitation(t *testing.T) {
	inEachRevision(t, func(t *testing.T, p place, revision string) {
		for _, c := range []struct {
			answer  string
			granted bool
		}{{"accept", true}, {"decline", false}, {"cancel", false}, {"", false}} {
			t.Run("answer "+c.answer, func(t *testing.T) {
				p := newPlace(t)
				p.configure(t, "rules: {dangerous/permissions: ask}\n")
				p.write(t, "shared.txt", "")
				r := p.play(t, script{Revision: revision, Answer: c.answer, Calls: []sdkCall{execute(opening)}})
				asked := 1
				if c.answer == "" {
					asked = 0
				}
				if len(r.Asked) != asked {
					t.Errorf("asked %d times: %q", len(r.Asked), r.Asked)
				}
				runs := 0
				if c.granted {
					runs = 1
				}
				if out := r.Results[0].Result; out == nil || out.IsError == c.granted {
					t.Errorf("%+v", r.Results[0])
				}
				if n := p.count(t); n != runs {
					t.Errorf("it ran %d times, want %d", n, runs)
				}
				if c.answer != "" {
					p.checkApproval(t, c.granted, "")
				}
			})
		}
	})
}

// TestGoSDKOverHTTP has all of the above in one session, over HTTP.
func TestGoSDKOverHTTP(t *testing.T) {
	inEachRevision(t, func(t *testing.T, p place, revision string) {
		p.configure(t, "rules: {dangerous/permissions: ask}\n")
		p.write(t, "shared.txt", "")
		server := p.serve(t)
		long := execute("sleep 3600 & echo $! > child; touch started; wait")
		long.CancelOn = filepath.Join(p.workspace, "started")
		gone := execute(untilGone)
		gone.Arguments["timeout"] = 300
		r := p.playAt(t, script{
			Revision: revision, Answer: "accept", Read: []string{"*"}, Mark: filepath.Join(p.workspace, "progress"),
			Calls: []sdkCall{
				execute("echo hello"), execute("rm -rf /"), execute(untilProgress + "true"), long, gone, execute(opening),
			},
		}, "-url", server.url, "-token", token)
		for i, want := range map[int]struct {
			stdout  string
			isError bool
		}{0: {"hello\n", false}, 1: {"", true}, 2: {"", false}, 4: {"gone\n", false}, 5: {"", false}} {
			if out := r.Results[i].Result; out == nil || out.IsError != want.isError || out.StructuredContent["stdout"] != want.stdout {
				t.Errorf("call %d: %+v", i, r.Results[i])
			}
		}
		if r.Results[3].Error == "" {
			t.Errorf("the cancelled call: %+v", r.Results[3])
		}
		if r.Progress == 0 || len(r.Asked) != 1 || len(r.Resources) == 0 || p.count(t) != 1 {
			t.Errorf("%d notifications of progress, asked %q, %d resources, ran %d times", r.Progress, r.Asked, len(r.Resources), p.count(t))
		}
		server.stop(t)
		all := p.records(t)
		if len(ofKind(all, "outcome")) != 5 || killed(all, 3) == "" {
			t.Errorf("on record: %+v", all)
		}
	})
}
