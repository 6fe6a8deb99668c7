package mcpserver

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const testToken = "a-token-of-this-test-only"

// web is an HTTP endpoint with two tools: echo answers, and block waits until its call is ended.
type web struct {
	url     string
	blocked chan string   // what a call of block was told, when it begins
	ended   chan string   // the same, when its context has ended
	release chan struct{} // ends calls of block with an answer
	stop    context.CancelFunc
	done    chan error
}

func startWeb(t *testing.T) *web {
	t.Helper()
	w := &web{blocked: make(chan string, 8), ended: make(chan string, 8), release: make(chan struct{}), done: make(chan error, 1)}
	m := server.NewMCPServer("test", "1", server.WithToolCapabilities(false))
	m.AddTool(mcp.NewTool("echo", mcp.WithString("text")), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(r.GetString("text", "")), nil
	})
	m.AddTool(mcp.NewTool("block", mcp.WithString("text")), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		text := r.GetString("text", "")
		w.blocked <- text
		select {
		case <-ctx.Done():
			w.ended <- text
			return nil, ctx.Err()
		case <-w.release:
			return mcp.NewToolResultText("released " + text), nil
		}
	})
	ctx, cancel := context.WithCancel(context.Background())
	w.stop = cancel
	ready := make(chan string, 1)
	go func() {
		w.done <- serveHTTP(ctx, m, hclog.NewNullLogger(), HTTPOptions{
			Address: "127.0.0.1:0", Token: testToken,
			End:   func() error { close(w.release); return nil },
			Ready: func(url string) { ready <- url },
		})
	}()
	select {
	case w.url = <-ready:
	case err := <-w.done:
		t.Fatal(err)
	}
	t.Cleanup(cancel)
	return w
}

// toolCall is a tools/call message without sessions, as revision 2026-07-28 has it.
func toolCall(id int, tool, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"text":%q},%s}}`, id, tool, text, modernMeta)
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// request makes an authorized request; edit may spoil it.
func (w *web) request(ctx context.Context, t *testing.T, method, body string, edit func(*http.Request)) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, w.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+testToken)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	if strings.Contains(body, "tools/call") {
		r.Header.Set("Mcp-Method", "tools/call")
		name := "echo"
		if strings.Contains(body, `"block"`) {
			name = "block"
		}
		r.Header.Set("Mcp-Name", name)
	}
	if edit != nil {
		edit(r)
	}
	return r
}

func send(t *testing.T, r *http.Request) (status int, body string) {
	t.Helper()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestHTTPLetsInOnlyClientsWithTheToken(t *testing.T) {
	t.Parallel()
	w := startWeb(t)
	header := func(name string, values ...string) func(*http.Request) {
		return func(r *http.Request) { r.Header[name] = values }
	}
	for name, c := range map[string]struct {
		edit   func(*http.Request)
		status int
	}{
		"the token":                {nil, 200},
		"scheme in small letters":  {header("Authorization", "bearer "+testToken), 200},
		"no token":                 {header("Authorization"), 401},
		"an empty token":           {header("Authorization", "Bearer "), 401},
		"another token":            {header("Authorization", "Bearer "+strings.ToUpper(testToken)), 401},
		"a prefix of the token":    {header("Authorization", "Bearer "+testToken[:len(testToken)-1]), 401},
		"more than the token":      {header("Authorization", "Bearer "+testToken+"x"), 401},
		"another scheme":           {header("Authorization", "Basic "+testToken), 401},
		"two tokens":               {header("Authorization", "Bearer "+testToken, "Bearer wrong"), 401},
		"host localhost":           {func(r *http.Request) { r.Host = "localhost:1" }, 200},
		"host of a rebound name":   {func(r *http.Request) { r.Host = "pages.example" }, 403},
		"host that begins as ours": {func(r *http.Request) { r.Host = "127.0.0.1.pages.example" }, 403},
		"origin on this machine":   {header("Origin", "http://localhost:3000"), 200},
		"origin elsewhere":         {header("Origin", "https://pages.example"), 403},
		"origin null":              {header("Origin", "null"), 403},
		"origins of both kinds":    {header("Origin", "http://localhost", "https://pages.example"), 403},
		"another path":             {func(r *http.Request) { r.URL.Path = "/other" }, 404},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := send(t, w.request(t.Context(), t, http.MethodPost, toolCall(1, "echo", "it ran"), c.edit))
			if status != c.status {
				t.Errorf("status %d, want %d: %s", status, c.status, body)
			}
			if ran := strings.Contains(body, "it ran"); ran != (c.status == 200) {
				t.Errorf("the tool ran: %v: %s", ran, body)
			}
			if strings.Contains(body, testToken) {
				t.Error("the answer shows the token")
			}
		})
	}
}

func TestHTTPRefusesTokensThatAreNone(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"", "short", "sixteen letters!", "a-token-with-ünder"} {
		err := serveHTTP(t.Context(), server.NewMCPServer("test", "1"), hclog.NewNullLogger(),
			HTTPOptions{Address: "127.0.0.1:0", Token: token, End: func() error { return nil }})
		if err == nil || !strings.Contains(err.Error(), "token") || (token != "" && strings.Contains(err.Error(), token)) {
			t.Errorf("token %q: %v", token, err)
		}
	}
}

func TestHTTPStaysOnLoopbackUnlessPublic(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		address string
		public  bool
		ok      bool
	}{
		{"127.0.0.1:0", false, true},
		{"localhost:0", false, true},
		{"127.0.0.1:0", true, true},
		{"0.0.0.0:0", false, false},
		{":0", false, false},
		{"[::]:0", false, false},
		{"192.0.2.1:0", false, false},
		{"0.0.0.0:0", true, true},
		{":0", true, true},
		{"127.0.0.1", false, false},
	} {
		l, err := listen(t.Context(), c.address, c.public)
		if (err == nil) != c.ok {
			t.Errorf("listen on %q, public %v: %v", c.address, c.public, err)
		}
		if err == nil {
			if ip := l.Addr().(*net.TCPAddr).IP; !c.public && !ip.IsLoopback() {
				t.Errorf("%q listens on %s", c.address, ip)
			}
			l.Close()
		}
	}
}

func TestHTTPBoundsBodies(t *testing.T) {
	t.Parallel()
	w := startWeb(t)
	padded := func(size int) string {
		text := toolCall(1, "echo", "it ran")
		return text + strings.Repeat(" ", size-len(text))
	}
	for _, c := range []struct{ size, status int }{{bodyBytes, 200}, {bodyBytes + 1, 413}} {
		status, body := send(t, w.request(t.Context(), t, http.MethodPost, padded(c.size), nil))
		if status != c.status || strings.Contains(body, "it ran") != (c.status == 200) {
			t.Errorf("%d bytes: status %d, want %d: %.200s", c.size, status, c.status, body)
		}
	}
	r := w.request(t.Context(), t, http.MethodPost, padded(bodyBytes+1), func(r *http.Request) { r.Header.Del("Authorization") })
	if status, _ := send(t, r); status != 401 {
		t.Errorf("a large body of a stranger: status %d, want 401 before it is read", status)
	}
}

func TestHTTPHoldsCallsLongerThanTheTimeForBodies(t *testing.T) {
	t.Parallel()
	began := make(chan struct{}, 2)
	g := newGuard(testToken, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began <- struct{}{}
		select {
		case <-r.Context().Done():
			http.Error(w, "ended", http.StatusGone)
		case <-time.After(10 * bodyTimeOfTest):
		}
	}))
	g.bodyTime = bodyTimeOfTest
	ts := &http.Server{Handler: g, ReadHeaderTimeout: headerTime}
	l, err := listen(t.Context(), "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	go ts.Serve(l)
	defer ts.Close()
	w := &web{url: "http://" + l.Addr().String() + endpoint}
	if status, body := send(t, w.request(t.Context(), t, http.MethodPost, "{}", nil)); status != 200 {
		t.Errorf("a call that takes long: status %d: %s", status, body)
	}

	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: 10\r\n\r\n{", testToken)
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") {
		t.Errorf("a body that never comes: %q, %v", answer, err)
	}
	if len(began) != 1 {
		t.Errorf("%d requests reached the server, want the first alone", len(began))
	}
}

const bodyTimeOfTest = 50 * time.Millisecond

func TestHTTPDisconnectEndsTheCall(t *testing.T) {
	t.Parallel()
	w := startWeb(t)
	ctx, hangUp := context.WithCancel(t.Context())
	gone := make(chan struct{})
	r := w.request(ctx, t, http.MethodPost, toolCall(1, "block", "mine"), nil)
	go func() {
		defer close(gone)
		if resp, err := http.DefaultTransport.RoundTrip(r); err == nil {
			resp.Body.Close()
		}
	}()
	<-w.blocked
	select {
	case <-w.ended:
		t.Fatal("the call ended before its client hung up")
	default:
	}
	hangUp()
	if text := <-w.ended; text != "mine" {
		t.Errorf("the call that ended is %q", text)
	}
	<-gone
}

// TestHTTPCancelReachesNoCallOfAnother has two clients whose calls have the same id, as counted ids do.
func TestHTTPCancelReachesNoCallOfAnother(t *testing.T) {
	t.Parallel()
	w := startWeb(t)
	answers := make(chan string, 1)
	r := w.request(t.Context(), t, http.MethodPost, toolCall(1, "block", "of another"), nil)
	go func() {
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			answers <- err.Error()
			return
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		answers <- string(text)
	}()
	<-w.blocked
	cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,` + modernMeta + `}}`
	r = w.request(t.Context(), t, http.MethodPost, cancel, func(r *http.Request) { r.Header.Set("Mcp-Method", "notifications/cancelled") })
	if status, body := send(t, r); status != http.StatusAccepted {
		t.Errorf("the cancellation: status %d: %s", status, body)
	}
	// A call made afterwards is answered: had the cancellation reached the other call, it would have by now.
	if status, _ := send(t, w.request(t.Context(), t, http.MethodPost, toolCall(2, "echo", "after"), nil)); status != 200 {
		t.Errorf("the next call: status %d", status)
	}
	w.stop()
	if answer := <-answers; !strings.Contains(answer, "released of another") {
		t.Errorf("the call of the other client: %s", answer)
	}
	if err := <-w.done; err != nil {
		t.Error(err)
	}
}

// TestHTTPStopsInOrder ends a server with a call under way and a client that listens: the call is
// answered, the stream ends, and the port is free.
func TestHTTPStopsInOrder(t *testing.T) {
	t.Parallel()
	w := startWeb(t)
	legacy := func(r *http.Request) { r.Header.Set("Mcp-Protocol-Version", "2025-11-25") }
	resp, err := http.DefaultClient.Do(w.request(t.Context(), t, http.MethodPost,
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`, legacy))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	session := resp.Header.Get("Mcp-Session-Id")
	if session == "" {
		t.Fatal("no session")
	}
	member := func(r *http.Request) { legacy(r); r.Header.Set("Mcp-Session-Id", session) }
	stream, err := http.DefaultClient.Do(w.request(t.Context(), t, http.MethodGet, "", member))
	if err != nil || stream.StatusCode != http.StatusOK {
		t.Fatal(stream, err)
	}
	defer stream.Body.Close()
	answers := make(chan string, 1)
	r := w.request(t.Context(), t, http.MethodPost, toolCall(1, "block", "to the end"), member)
	r.Body = io.NopCloser(strings.NewReader(strings.Replace(toolCall(1, "block", "to the end"), ","+modernMeta, "", 1)))
	r.ContentLength = -1
	go func() {
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			answers <- err.Error()
			return
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		answers <- string(text)
	}()
	select {
	case <-w.blocked:
	case answer := <-answers:
		t.Fatalf("the call did not block: %s", answer)
	}
	w.stop()
	if answer := <-answers; !strings.Contains(answer, "released to the end") {
		t.Errorf("the call under way: %s", answer)
	}
	if err := <-w.done; err != nil {
		t.Errorf("serve: %v", err)
	}
	if _, err := io.ReadAll(stream.Body); err != nil {
		t.Errorf("the stream: %v", err)
	}
	// Another test may have taken the port by now; what answers there does not know this server's token.
	if resp, err := http.DefaultClient.Do(w.request(t.Context(), t, http.MethodGet, "", member)); err == nil {
		resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("it still answers: %s", resp.Status)
		}
	}
}

func TestHTTPBoundsMessagesUnderWay(t *testing.T) {
	t.Parallel()
	inside, leave := make(chan struct{}, 3), make(chan struct{})
	g := newGuard(testToken, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inside <- struct{}{}; <-leave }))
	g.seats = make(chan struct{}, 2)
	l, err := listen(t.Context(), "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	ts := &http.Server{Handler: g, ReadHeaderTimeout: headerTime}
	go ts.Serve(l)
	defer ts.Close()
	w := &web{url: "http://" + l.Addr().String() + endpoint}
	ended := make(chan int, 2)
	for range 2 {
		r := w.request(t.Context(), t, http.MethodPost, "{}", nil)
		go func() {
			resp, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				ended <- 0
				return
			}
			resp.Body.Close()
			ended <- resp.StatusCode
		}()
		<-inside
	}
	if status, body := send(t, w.request(t.Context(), t, http.MethodPost, "{}", nil)); status != http.StatusServiceUnavailable {
		t.Errorf("a third of two: status %d: %s", status, body)
	}
	close(leave)
	if a, b := <-ended, <-ended; a != 200 || b != 200 {
		t.Errorf("the first two: %d and %d", a, b)
	}
	if status, body := send(t, w.request(t.Context(), t, http.MethodPost, "{}", nil)); status != 200 {
		t.Errorf("one after them: status %d: %s", status, body)
	}
}

func TestHTTPSessionsOfOthersAreUnknown(t *testing.T) {
	t.Parallel()
	w := startWeb(t)
	r := w.request(t.Context(), t, http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, func(r *http.Request) {
		r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		r.Header.Set("Mcp-Session-Id", "mcp-session-01234567-89ab-cdef-0123-456789abcdef")
	})
	if status, body := send(t, r); status != http.StatusNotFound {
		t.Errorf("a session that was never given out: status %d: %s", status, body)
	}
}
