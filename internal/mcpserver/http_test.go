package mcpserver

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/sallyport-dev/sallyport/internal/await"
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
			times: httpTimes{header: await.Guard, body: await.Guard, answer: await.Guard},
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
