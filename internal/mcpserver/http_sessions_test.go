package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/background"
	"github.com/sallyport-dev/sallyport/plugins"
)

const otherToken = "another-token-of-this-test"

// fleet is a server with a session for each client, over real gates with one log.
type fleet struct {
	*web
	*world
	opened, ended atomic.Int32
}

func startFleet(t *testing.T, idle time.Duration, most int) *fleet {
	t.Helper()
	f := &fleet{world: newWorld(t, "profile: standard\n", nil), web: &web{done: make(chan error, 1)}}
	ctx, cancel := context.WithCancel(context.Background())
	f.stop = cancel
	ready := make(chan string, 1)
	var one sync.Mutex
	open := func(ctx context.Context, name string) (*Server, func() error, error) {
		one.Lock()
		defer one.Unlock()
		approver := NewApprover()
		parts, err := plugins.Assemble(ctx, f.loaded,
			plugins.Options{Session: name, Approver: approver, Version: "test", Judge: await.Guard})
		if err != nil {
			return nil, nil, err
		}
		shells := background.New(background.Options{Gate: parts, Limit: f.loaded.Limits.Background,
			Lines: f.loaded.Limits.RingLines})
		s, err := New(Options{Gate: parts, Approver: approver, Background: shells, Subject: parts.Subject,
			Redact: parts.Redact, Version: "test"})
		f.opened.Add(1)
		return s, func() error {
			f.ended.Add(1)
			return errors.Join(shells.Close(), parts.Close())
		}, err
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		f.done <- ListenSessions(ctx, hclog.NewNullLogger(), HTTPOptions{
			Address: "127.0.0.1:0", Tokens: func() []string { return []string{testToken, otherToken} },
			Ready: func(url string) { ready <- url }, Drain: await.Guard,
			times: httpTimes{header: await.Guard, body: await.Guard, answer: await.Guard},
		}, SessionOptions{Open: open, Idle: idle, Most: most})
	}()
	f.url = <-ready
	t.Cleanup(func() { cancel(); <-over })
	return f
}

const handshake = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
	`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`

// say sends a message of a session with a token.
func (f *fleet) say(t *testing.T, id, token, text string) (int, http.Header, string) {
	t.Helper()
	r := f.request(context.Background(), t, http.MethodPost, text, func(r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
		if id != "" {
			r.Header.Set("Mcp-Session-Id", id)
		}
	})
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return 0, nil, ""
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return resp.StatusCode, resp.Header, string(answer)
}

// begin shakes hands, and returns the id of the session.
func (f *fleet) begin(t *testing.T, token string) string {
	t.Helper()
	status, header, body := f.say(t, "", token, handshake)
	id := header.Get("Mcp-Session-Id")
	if status != http.StatusOK || id == "" {
		t.Errorf("handshake: status %d, session %q: %s", status, id, body)
	}
	return id
}

func execute(command string) string {
	text, _ := json.Marshal(command)
	return fmt.Sprintf(
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_command","arguments":{"command":%s}}}`, text)
}

// TestSessionsUnderLoad has clients run commands at once: each gets its own answers and no others, and the
// log of all has each command with its session.
func TestSessionsUnderLoad(t *testing.T) {
	t.Parallel()
	clients, commands := 6, 5
	if os.Getenv("SALLYPORT_TEST_COMPLETE") != "" {
		clients, commands = 50, 20
	}
	f := startFleet(t, time.Hour, clients)
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			id := f.begin(t, testToken)
			for n := range commands {
				text := fmt.Sprintf("client %d command %d.", c, n)
				if status, _, body := f.say(t, id, testToken, execute("echo '"+text+"'")); status != 200 ||
					!strings.Contains(body, text) {
					t.Errorf("%s: status %d: %s", text, status, body)
				}
			}
		})
	}
	all.Wait()
	if status, header, _ := f.say(t, "", testToken, handshake); status != 503 ||
		header.Get("Retry-After") == "" {
		t.Errorf("one session too many: status %d", status)
	}
	f.stop()
	if err := <-f.done; err != nil {
		t.Error(err)
	}
	if opened, ended := f.opened.Load(), f.ended.Load(); int(opened) != clients || opened != ended {
		t.Errorf("%d sessions opened, %d ended", opened, ended)
	}
	dir := string(f.loaded.Audit.Dir)
	report, err := audit.Verify(dir, audit.VerifyOptions{})
	if err != nil || len(report.Problems) > 0 {
		t.Errorf("%v: %+v", err, report.Problems)
	}
	texts, of := map[string]string{}, map[string]string{} // the client of each session
	for e, err := range audit.Read(dir, audit.Filter{Kind: "decision"}) {
		if err != nil {
			t.Fatal(err)
		}
		d, err := e.Decision()
		if err != nil {
			t.Fatal(err)
		}
		text, session := d.Input.Request.Command, d.Input.Subject.Session
		client := strings.Join(strings.Fields(text)[:3], " ")
		if was := of[session]; was != "" && was != client || texts[text] != "" {
			t.Errorf("session %s has commands of %s and %s", session, was, client)
		}
		of[session], texts[text] = client, session
	}
	if len(texts) != clients*commands || len(of) != clients {
		t.Errorf("the log has %d commands of %d sessions", len(texts), len(of))
	}
}

// TestSessionsAreApart tries to reach the session of another client, and ends sessions.
func TestSessionsAreApart(t *testing.T) {
	t.Parallel()
	f := startFleet(t, time.Hour, 10)
	mine, other := f.begin(t, testToken), f.begin(t, otherToken)
	if mine == other {
		t.Fatal("one session for two clients")
	}
	call := execute("echo reached")
	for name, c := range map[string]struct {
		id, token string
		status    int
	}{
		"mine":                  {mine, testToken, 200},
		"of another's token":    {mine, otherToken, 404},
		"that nobody began":     {"ABCDEFGH", testToken, 404},
		"none":                  {"", testToken, 404},
		"name of another token": {"token ", testToken, 404},
	} {
		if status, _, body := f.say(t, c.id, c.token, call); status != c.status ||
			strings.Contains(body, "reached") != (status == 200) {
			t.Errorf("session %s: status %d: %s", name, status, body)
		}
	}
	// Clients of protocols without sessions have one for their token.
	for _, token := range []string{testToken, otherToken, testToken} {
		r := f.request(t.Context(), t, http.MethodPost,
			strings.Replace(toolCall(1, "execute_command", ""), `"text":""`, `"command":"echo reached"`, 1),
			func(r *http.Request) {
				r.Header.Set("Authorization", "Bearer "+token)
				r.Header.Set("Mcp-Name", "execute_command")
			})
		if status, body := send(t, r); status != 200 || !strings.Contains(body, "reached") {
			t.Errorf("without a session: status %d: %s", status, body)
		}
	}
	if n := f.opened.Load(); n != 4 {
		t.Errorf("%d sessions, want 4", n)
	}
	r := f.request(t.Context(), t, http.MethodDelete, "", func(r *http.Request) {
		r.Header.Set("Mcp-Session-Id", mine)
		r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
	})
	if status, body := send(t, r); status >= 300 {
		t.Errorf("the end: status %d: %s", status, body)
	}
	await.True(t, "the session has ended", func() bool { return f.ended.Load() == 1 })
	if status, _, _ := f.say(t, mine, testToken, call); status != 404 {
		t.Errorf("after its end: status %d", status)
	}
}

// TestIdleSessionsEnd has a client that goes without a word.
func TestIdleSessionsEnd(t *testing.T) {
	t.Parallel()
	f := startFleet(t, 20*time.Millisecond, 1)
	id := f.begin(t, testToken)
	await.True(t, "the session has ended", func() bool { return f.ended.Load() == 1 })
	if status, _, _ := f.say(t, id, testToken, execute("true")); status != 404 {
		t.Errorf("after its end: status %d", status)
	}
	f.begin(t, testToken) // there is place again
}

// TestHealth asks as an orchestrator does, before the end and at it.
func TestHealth(t *testing.T) {
	t.Parallel()
	g := newGuard(func() []string { return nil }, time.Minute, http.NotFoundHandler())
	for _, ending := range []bool{false, true} {
		for path, want := range map[string]int{alivePath: 200,
			readyPath: map[bool]int{false: 200, true: 503}[ending], endpoint: 403} {
			w := httptest.NewRecorder()
			g.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			if w.Code != want {
				t.Errorf("ending %v: %s: status %d, want %d", ending, path, w.Code, want)
			}
		}
		if !ending {
			g.drain(time.Minute)
		}
	}
}
