package mcpserver

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/sallyport-dev/sallyport/internal/await"
)

// pipes is a listener whose connections have no socket, so that its server runs by a fake clock.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p <- there
	return here, nil
}

// TestHTTPHoldsCallsLongerThanTheTimeForBodies shows that a body has its time, and that the call has more.
func TestHTTPHoldsCallsLongerThanTheTimeForBodies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := make(chan struct{}, 2)
		l := make(pipes)
		call := func(w http.ResponseWriter, r *http.Request) {
			began <- struct{}{}
			later, cancel := context.WithTimeout(context.Background(), 2*bodyTime)
			defer cancel()
			select {
			case <-r.Context().Done():
				http.Error(w, "ended", http.StatusGone)
			case <-later.Done():
			}
		}
		ts := &http.Server{Handler: newGuard(func() []string { return []string{testToken} }, bodyTime,
			http.HandlerFunc(call))}
		go ts.Serve(l)
		client := &http.Transport{DialContext: l.dial}
		w := &web{url: "http://localhost" + endpoint}
		resp, err := client.RoundTrip(w.request(t.Context(), t, http.MethodPost, "{}", nil))
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("a call that takes long: %+v, %v", resp, err)
		}
		resp.Body.Close()
		client.CloseIdleConnections()

		conn, _ := l.dial(t.Context(), "", "")
		const head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: " +
			"10\r\n\r\n{"
		fmt.Fprintf(conn, head, testToken)
		answer, err := io.ReadAll(conn)
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") {
			t.Errorf("a body that never comes: %q, %v", answer, err)
		}
		if len(began) != 1 {
			t.Errorf("%d requests reached the server, want the first alone", len(began))
		}
		conn.Close()
		ts.Close()
	})
}

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

// answer is the body of what a request is answered with, or why there is none.
func answer(r *http.Request) string {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return string(text)
}

// TestHTTPCancelReachesNoCallOfAnother has two clients whose calls have the same id, as counted ids do.
func TestHTTPCancelReachesNoCallOfAnother(t *testing.T) {
	t.Parallel()
	w := startWeb(t)
	answers := make(chan string, 1)
	r := w.request(t.Context(), t, http.MethodPost, toolCall(1, "block", "of another"), nil)
	go func() { answers <- answer(r) }()
	<-w.blocked
	cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,` + modernMeta + `}}`
	r = w.request(t.Context(), t, http.MethodPost, cancel,
		func(r *http.Request) { r.Header.Set("Mcp-Method", "notifications/cancelled") })
	if status, body := send(t, r); status != http.StatusAccepted {
		t.Errorf("the cancellation: status %d: %s", status, body)
	}
	// A call made afterwards is answered: had the cancellation reached the other call, it would have by now.
	if status, _ := send(t, w.request(t.Context(), t, http.MethodPost, toolCall(2, "echo", "after"),
		nil)); status != 200 {
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
	r.Body = io.NopCloser(strings.NewReader(strings.Replace(toolCall(1, "block", "to the end"), ","+modernMeta,
		"", 1)))
	r.ContentLength = -1
	go func() { answers <- answer(r) }()
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
	g := newGuard(func() []string { return []string{testToken} }, await.Guard,
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inside <- struct{}{}; <-leave }))
	g.seats = make(chan struct{}, 2)
	l, err := listen(t.Context(), "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	ts := &http.Server{Handler: g}
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
	if status, body := send(t, w.request(t.Context(), t, http.MethodPost, "{}",
		nil)); status != http.StatusServiceUnavailable {
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
	r := w.request(t.Context(), t, http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		func(r *http.Request) {
			r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
			r.Header.Set("Mcp-Session-Id", "mcp-session-01234567-89ab-cdef-0123-456789abcdef")
		})
	if status, body := send(t, r); status != http.StatusNotFound {
		t.Errorf("a session that was never given out: status %d: %s", status, body)
	}
}

// TestHTTPAcknowledgesSubscriptions holds that the answer to a subscription never overtakes the
// acknowledgement, which mcp-go would drop then.
func TestHTTPAcknowledgesSubscriptions(t *testing.T) {
	t.Parallel()
	w := startWeb(t)
	listen := `{"jsonrpc":"2.0","id":50,"method":"subscriptions/listen","params":{"notifications":{},` +
		modernMeta + `}}`
	method := func(r *http.Request) { r.Header.Set("Mcp-Method", "subscriptions/listen") }
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for range 20 {
				text := answer(w.request(t.Context(), t, http.MethodPost, listen, method))
				ack, end := strings.Index(text, "subscriptions/acknowledged"),
					strings.Index(text, `"resultType":"complete"`)
				if ack < 0 || end < ack {
					t.Errorf("answered with %q", text)
				}
			}
		})
	}
	clients.Wait()
}
