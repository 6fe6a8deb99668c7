package mcpclients

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/await"
)

// record is what the tests look at in a record of the audit log.
type record struct {
	Kind     string
	Decision string `json:"decision_id"`
	Granted  bool
	By       string
	Comment  string
	ExitCode int    `json:"exit_code"`
	Killed   string `json:"killed"`
}

// records verifies the log and returns it.
func (p place) records(t *testing.T) []record {
	t.Helper()
	p.mustRun(t, "", program, "audit", "verify")
	var all []record
	for line := range strings.Lines(p.mustRun(t, "", program, "audit", "list", "--format", "json", "-n", "0")) {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		all = append(all, r)
	}
	return all
}

func ofKind(all []record, kind string) []record {
	var out []record
	for _, r := range all {
		if r.Kind == kind {
			out = append(out, r)
		}
	}
	return out
}

// mcpdo is a daemon of that name with a connection to `sallyport mcp`.
type mcpdo struct {
	place
	argv []string
}

// dial starts a daemon of its own and connects it; elicit says whether a person can be asked.
func dial(t *testing.T, p place, era, elicit string) mcpdo {
	t.Helper()
	m := mcpdo{p, tool(t, "@modelcontextprotocol/inspector/clients/mcpdo/build/mcp-bin.js")}
	for line := range strings.Lines(p.mustRun(t, "", append(m.argv, "private")...)) {
		name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		if !ok {
			continue
		}
		value = strings.Trim(value, "'")
		m.env = append(m.env, name+"="+value)
		if name == "MCP_INSPECTOR_DAEMON_DIR" {
			t.Cleanup(func() { os.RemoveAll(value) })
		}
	}
	m.argv = append(m.argv, "--format", "json")
	t.Cleanup(func() { m.stop(t) })
	m.mustRun(t, "", append(m.argv, "--config", p.servers(t, era), "connect", connection, "--elicit", elicit)...)
	return m
}

// do gives the daemon a command about its connection.
func (m mcpdo) do(t *testing.T, args ...string) result {
	t.Helper()
	return m.run(t, "", append(append(m.argv, "--connection", connection), args...)...)
}

// stop ends the daemon and waits for the last record of the server that it had started.
func (m mcpdo) stop(t *testing.T) {
	t.Helper()
	m.mustRun(t, "", append(m.argv, "daemon", "stop")...)
	await.True(t, "the server writes its last record", func() bool {
		all := m.records(t)
		return len(ofKind(all, "stop")) == len(ofKind(all, "start"))
	})
}

// ask calls for a command that needs a person, and returns the question.
func (m mcpdo) ask(t *testing.T, command string) question {
	t.Helper()
	r := m.do(t, "tools/call", "execute_command", "command:="+command)
	var q question
	if err := json.Unmarshal([]byte(r.stdout), &q); err != nil || q.Pending.ElicitationID == "" {
		t.Fatalf("no question: exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	return q
}

// question is what mcpdo prints when the server asks its person something.
type question struct {
	Pending struct {
		Message         string
		ElicitationID   string `json:"elicitationId"`
		RequestedSchema struct {
			Properties map[string]any
		} `json:"requestedSchema"`
	} `json:"elicitationPending"`
}

// opening is a command that asks, and shows how often it ran.
const opening = "chmod 777 shared.txt; echo ran >> count.txt"

func TestApprovalThroughARealClient(t *testing.T) {
	installed(t)
	t.Parallel()
	for _, era := range eras {
		for name, c := range map[string]struct {
			answer  []string
			granted bool
			comment string
		}{
			"accepted":          {[]string{"approve:=true", "comment:=\"go on\""}, true, "go on"},
			"accepted but not":  {[]string{"approve:=false"}, false, ""},
			"declined":          {[]string{"--decline"}, false, "decline"},
			"cancelled":         {[]string{"--cancel"}, false, "cancel"},
			"accepted, no word": {[]string{"{}"}, false, ""},
		} {
			t.Run(era+"/"+name, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				p.configure(t, "rules: {dangerous/permissions: ask}\n")
				p.write(t, "shared.txt", "")
				m := dial(t, p, era, "form")
				q := m.ask(t, opening)
				if !strings.Contains(q.Pending.Message, opening) || !strings.Contains(q.Pending.Message, p.workspace) {
					t.Errorf("the question does not show what would run, and where: %s", q.Pending.Message)
				}
				if n := p.count(t); n != 0 {
					t.Fatalf("it ran %d times before anybody answered", n)
				}
				answered := m.do(t, append([]string{"elicitation/respond", q.Pending.ElicitationID}, c.answer...)...)
				wantCode, wantRuns := exitToolError, 0
				if c.granted {
					wantCode, wantRuns = 0, 1
				}
				if answered.code != wantCode {
					t.Errorf("exit %d, want %d\n%s%s", answered.code, wantCode, answered.stdout, answered.stderr)
				}
				if n := p.count(t); n != wantRuns {
					t.Errorf("it ran %d times, want %d", n, wantRuns)
				}
				p.checkApproval(t, c.granted, c.comment)
			})
		}
	}
}

// checkApproval checks that exactly one approval is on record, and an outcome only where it was granted.
func (p place) checkApproval(t *testing.T, granted bool, comment string) {
	t.Helper()
	all := p.records(t)
	approvals := ofKind(all, "approval")
	var counted []record
	for _, a := range approvals {
		if a.By != "" {
			counted = append(counted, a)
		}
	}
	if len(counted) != 1 {
		t.Fatalf("%d approvals by somebody are on record: %+v", len(counted), approvals)
	}
	a := counted[0]
	if a.Granted != granted || !strings.HasPrefix(a.By, "mcp:") || !strings.Contains(a.Comment, comment) {
		t.Errorf("the approval on record is %+v, want granted %v with %q", a, granted, comment)
	}
	outcomes := ofKind(all, "outcome")
	switch {
	case granted && (len(outcomes) != 1 || outcomes[0].Decision != a.Decision):
		t.Errorf("outcomes %+v, want that of decision %s", outcomes, a.Decision)
	case !granted && len(outcomes) != 0:
		t.Errorf("nothing should have run, but: %+v", outcomes)
	}
}

// count says how often opening ran.
func (p place) count(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.workspace, "count.txt"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(text), "ran\n")
}

// TestApprovalNeedsAClientThatCanAsk has a client without elicitation, as headless agents are: ask refuses,
// and the refusal tells how a person could allow it.
func TestApprovalNeedsAClientThatCanAsk(t *testing.T) {
	installed(t)
	t.Parallel()
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.configure(t, "rules: {dangerous/permissions: ask}\n")
			p.write(t, "shared.txt", "")
			m := dial(t, p, era, "off")
			r := m.do(t, "tools/call", "execute_command", "command:="+opening)
			if r.code != exitToolError || !strings.Contains(r.stdout, "how_to_allow") || !strings.Contains(r.stdout, "Not approved") {
				t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
			}
			if n := p.count(t); n != 0 {
				t.Errorf("it ran %d times", n)
			}
			for _, a := range ofKind(p.records(t), "approval") {
				if a.Granted {
					t.Errorf("an approval that nobody gave is on record: %+v", a)
				}
			}
		})
	}
}

// TestApprovalOfAClientThatLeaves has a question that nobody answers any more.
func TestApprovalOfAClientThatLeaves(t *testing.T) {
	installed(t)
	t.Parallel()
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.configure(t, "rules: {dangerous/permissions: ask}\n")
			p.write(t, "shared.txt", "")
			m := dial(t, p, era, "form")
			m.ask(t, opening)
			m.stop(t)
			for _, r := range p.records(t) {
				if r.Granted || r.Kind == "outcome" {
					t.Errorf("nobody approved, but on record is: %+v", r)
				}
			}
			if n := p.count(t); n != 0 {
				t.Errorf("it ran %d times", n)
			}
		})
	}
}
