package mcpserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	// bodyBytes is the largest request. The text of a command is capped far below; a file may be longer.
	bodyBytes = 16 << 20

	// seats is how many messages may be under way at once, over all clients.
	seats = 256

	// tokenBytes is the shortest token that is taken: 16 characters of base32 are 80 bits.
	tokenBytes = 16
)

// CheckToken refuses a token that is no secret, or that no header could carry.
func CheckToken(token string) error {
	if len(token) < tokenBytes {
		return fmt.Errorf("serve MCP over HTTP: the token has %d characters: use at least %d", len(token),
			tokenBytes)
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New(
			"serve MCP over HTTP: the token holds spaces or characters beyond ASCII: a header cannot carry it")
	}
	return nil
}

// guard passes on to next only requests of a client with a token, and no web page of elsewhere.
type guard struct {
	tokens    func() []string
	bodyBytes int64
	bodyTime  time.Duration
	seats     chan struct{} // one is taken by each message under way
	ending    atomic.Bool   // no message is taken any more
	next      http.Handler
}

func newGuard(tokens func() []string, bodyTime time.Duration, next http.Handler) *guard {
	return &guard{
		tokens: tokens, bodyBytes: bodyBytes, bodyTime: bodyTime, seats: make(chan struct{}, seats), next: next,
	}
}

// Paths at which an orchestrator asks, without a token: they tell nothing else.
const (
	alivePath = "/healthz" // the process answers
	readyPath = "/readyz"  // and takes messages
)

// ServeHTTP checks in an order that matters: nothing of a body is read before its sender is known.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	probe := r.Method == http.MethodGet && (r.URL.Path == alivePath || r.URL.Path == readyPath)
	switch {
	case probe && g.ending.Load() && r.URL.Path == readyPath:
		http.Error(w, "ending", http.StatusServiceUnavailable)
		return
	case probe:
		_, _ = io.WriteString(w, "ok\n")
		return
	case !sameSite(r):
		const why = "forbidden: this Host or Origin is not served: a web page may not drive this server"
		http.Error(w, why, http.StatusForbidden)
		return
	case r.URL.Path != endpoint:
		http.NotFound(w, r)
		return
	}
	sender := g.sender(r)
	r = r.WithContext(context.WithValue(r.Context(), senderKey{}, sender))
	switch {
	case sender == "":
		w.Header().Set("WWW-Authenticate", `Bearer realm="sallyport"`)
		http.Error(w, "unauthorized: send the token of this server as bearer token", http.StatusUnauthorized)
	case g.ending.Load() && r.Method != http.MethodDelete:
		w.Header().Set("Retry-After", "1")
		http.Error(w, errEnding.Error(), http.StatusServiceUnavailable)
	case r.Method == http.MethodPost:
		g.post(w, r)
	default:
		g.next.ServeHTTP(w, r)
	}
}

// drain takes no more messages, and waits for those under way, or for some time.
func (g *guard) drain(most time.Duration) {
	if most <= 0 {
		return
	}
	g.ending.Store(true)
	over := time.After(most)
	for range cap(g.seats) {
		select {
		case g.seats <- struct{}{}: // nobody sits there any more
		case <-over:
			return
		}
	}
}

// post takes one message. Where too many are under way it says so at once: to wait would keep the memory.
func (g *guard) post(w http.ResponseWriter, r *http.Request) {
	select {
	case g.seats <- struct{}{}:
		defer func() { <-g.seats }()
		if g.takeBody(w, r) {
			g.next.ServeHTTP(w, r)
		}
	default:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many calls are under way: try again when one has ended", http.StatusServiceUnavailable)
	}
}

// sameSite reports whether neither Host nor Origin shows a web page of elsewhere behind the request. On
// loopback both must name loopback: a page with a name that resolves to this machine (DNS rebinding) still
// sends its own name in both. On other addresses no name can be trusted, so no page is served.
func sameSite(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	origins := r.Header.Values("Origin")
	if !loopback(hostOf(local.String())) {
		return len(origins) == 0
	}
	for _, o := range origins {
		if u, err := url.Parse(o); err != nil || !loopback(u.Hostname()) {
			return false
		}
	}
	return loopback(hostOf(r.Host))
}

// hostOf cuts the port off.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return strings.Trim(address, "[]")
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

type senderKey struct{}

// senderOf is the hash of the token of a message's sender.
func senderOf(ctx context.Context) string {
	s, _ := ctx.Value(senderKey{}).(string)
	return s
}

// sender is the hash of the token of a request; "" for one that does not let in. It compares in constant
// time. Hashing first keeps the length of the tokens secret as well.
func (g *guard) sender(r *http.Request) string {
	given := r.Header.Values("Authorization")
	if len(given) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(given[0], " ")
	got, found := sha256.Sum256([]byte(token)), 0
	for _, t := range g.tokens() {
		want := sha256.Sum256([]byte(t))
		found |= subtle.ConstantTimeCompare(got[:], want[:])
	}
	if found != 1 || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return hex.EncodeToString(got[:])
}

// takeBody reads the whole body within its bounds and reports whether the request goes on. It sets the
// deadline here and not in the server, since its ReadTimeout would also end calls that take longer.
func (g *guard) takeBody(w http.ResponseWriter, r *http.Request) bool {
	deadline := http.NewResponseController(w).SetReadDeadline
	if err := deadline(time.Now().Add(g.bodyTime)); err != nil {
		http.Error(w, "internal error: no deadline for the body", http.StatusInternalServerError)
		return false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, g.bodyBytes))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		http.Error(w, fmt.Sprintf("the request is larger than %d bytes", large.Limit),
			http.StatusRequestEntityTooLarge)
		return false
	case err != nil:
		http.Error(w, "the body of the request cannot be read", http.StatusBadRequest)
		return false
	}
	if err := deadline(time.Time{}); err != nil {
		http.Error(w, "internal error: no deadline for the body", http.StatusInternalServerError)
		return false
	}
	if strayCancel(r.Header, body) {
		w.WriteHeader(http.StatusAccepted)
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return true
}

// strayCancel reports a cancellation that must not reach the server. Since 2026-07-28 there are no
// sessions, and mcp-go would look for the request id among the calls of all clients: one could end the
// call of another. Nothing is lost, because over HTTP a client cancels by closing the connection.
func strayCancel(h http.Header, body []byte) bool {
	if !mcp.IsModernProtocol(h.Get(mcp.HeaderProtocolVersion)) {
		return false
	}
	var message struct {
		Method mcp.MCPMethod `json:"method"`
	}
	return json.Unmarshal(body, &message) == nil && message.Method == mcp.MethodNotificationCancelled
}
