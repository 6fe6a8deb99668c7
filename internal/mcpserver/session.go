package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// session is the one client of a stdio server, as mcp-go wants to see it. All that goes to the client goes
// through one writer, in the order in which it was said.
type session struct {
	out           *lineWriter
	notifications chan mcp.JSONRPCNotification // from mcp-go itself
	closed        chan struct{}

	mu           sync.Mutex
	initialized  bool
	info         mcp.Implementation
	capabilities mcp.ClientCapabilities
	version      string
	last         int // number of the last question
	asked        map[string]chan reply
}

// reply is a client's answer to a question of ours.
type reply struct {
	result json.RawMessage
	err    error
}

var (
	_ server.SessionWithClientInfo      = (*session)(nil)
	_ server.SessionWithElicitation     = (*session)(nil)
	_ server.SessionWithProtocolVersion = (*session)(nil)
)

func newSession(out *lineWriter) *session {
	return &session{
		out: out, closed: make(chan struct{}), asked: map[string]chan reply{},
		notifications: make(chan mcp.JSONRPCNotification, 100),
	}
}

// SessionID names the session; there is only one for each pair of streams.
func (s *session) SessionID() string { return "stdio" }

// Initialize notes that the client has shaken hands.
func (s *session) Initialize() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.initialized = true
}

// Initialized reports whether the client has shaken hands.
func (s *session) Initialized() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.initialized
}

// NotificationChannel is where mcp-go puts its own notifications.
func (s *session) NotificationChannel() chan<- mcp.JSONRPCNotification { return s.notifications }

// forward writes mcp-go's own notifications until ctx ends.
func (s *session) forward(ctx context.Context) {
	for {
		select {
		case n := <-s.notifications:
			s.out.send(n)
		case <-ctx.Done():
			return
		}
	}
}

// GetClientInfo returns how the client calls itself.
func (s *session) GetClientInfo() mcp.Implementation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.info
}

// SetClientInfo notes how the client calls itself.
func (s *session) SetClientInfo(info mcp.Implementation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.info = info
}

// GetClientCapabilities returns the client's capabilities.
func (s *session) GetClientCapabilities() mcp.ClientCapabilities {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.capabilities
}

// SetClientCapabilities stores the client's capabilities.
func (s *session) SetClientCapabilities(c mcp.ClientCapabilities) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.capabilities = c
}

// ProtocolVersion returns the negotiated version, or "".
func (s *session) ProtocolVersion() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// SetProtocolVersion stores the negotiated version.
func (s *session) SetProtocolVersion(v string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = v
}

// notify sends a notification at once: messages that are written later arrive later.
func (s *session) notify(n mcp.JSONRPCNotification) { s.out.send(n) }

var errNoAnswer = errors.New("the client has closed its side and answers no more")

// RequestElicitation asks the client's person and waits for the answer.
func (s *session) RequestElicitation(ctx context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult,
	error) {
	answers := make(chan reply, 1)
	s.mu.Lock()
	s.last++
	id := "sallyport-" + strconv.Itoa(s.last)
	s.asked["s"+id] = answers
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.asked, "s"+id)
	}()
	s.out.send(map[string]any{
		"jsonrpc": mcp.JSONRPC_VERSION, "id": id, "method": mcp.MethodElicitationCreate, "params": r.Params,
	})
	select {
	case <-ctx.Done():
		s.withdraw(id)
		return nil, ctx.Err()
	case <-s.closed:
		select {
		case a := <-answers: // it came before the end
			return a.elicited()
		default:
			return nil, errNoAnswer
		}
	case a := <-answers:
		return a.elicited()
	}
}

// elicited reads the answer of a person.
func (a reply) elicited() (*mcp.ElicitationResult, error) {
	if a.err != nil {
		return nil, a.err
	}
	var result mcp.ElicitationResult
	if err := json.Unmarshal(a.result, &result); err != nil {
		return nil, fmt.Errorf("read the client's answer: %w", err)
	}
	return &result, nil
}

// withdraw tells the client that a question needs no answer any more, so that its dialog can go away.
func (s *session) withdraw(id string) {
	s.out.send(mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION, Notification: mcp.Notification{
		Method: string(mcp.MethodNotificationCancelled),
		Params: mcp.NotificationParams{AdditionalFields: map[string]any{"requestId": id,
			"reason": "the call has ended"}},
	}})
}

// answer takes a client's answer to a question of ours. One that nobody asked for is dropped.
func (s *session) answer(id string, result, failure json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answers := s.asked[id]
	if answers == nil {
		return
	}
	delete(s.asked, id)
	a := reply{result: result}
	if result == nil || len(failure) > 0 && string(failure) != "null" { // with both it is no answer
		a.err = fmt.Errorf("the client answers with an error: %s", shortened(string(failure), 200))
	}
	answers <- a
}

// close ends the waiting for answers.
func (s *session) close() { close(s.closed) }

// nameLength bounds a client's description of itself: it goes into every record.
const nameLength = 100

// subject is the author of a request, with the client's name for itself.
func (s *Server) subject(ctx context.Context) facts.Subject {
	subject := s.o.Subject
	info := clientInfo(ctx)
	subject.Client = facts.Client{
		Name:    shortened(visible(info.Name), nameLength),
		Version: shortened(visible(info.Version), nameLength),
	}
	return subject
}

// clientInfo is the client's description of itself: with each request in the modern era, once in the
// handshake before it.
func clientInfo(ctx context.Context) mcp.Implementation {
	if p := server.RequestProtocolInfoFromContext(ctx); p != nil && p.Modern {
		if p.ClientInfo == nil {
			return mcp.Implementation{}
		}
		return *p.ClientInfo
	}
	if session, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo); ok {
		return session.GetClientInfo()
	}
	return mcp.Implementation{}
}

// canElicit reports whether the client declared that it can show its person a form. It is never asked
// otherwise: some clients answer with an error, and some would show nothing and agree.
func canElicit(ctx context.Context) bool {
	can := func(c *mcp.ElicitationCapability) bool { return c != nil && (c.Form != nil || c.URL == nil) }
	if p := server.RequestProtocolInfoFromContext(ctx); p != nil && p.Modern {
		return p.ClientCapabilities != nil && can(p.ClientCapabilities.Elicitation)
	}
	session, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo)
	return ok && can(session.GetClientCapabilities().Elicitation)
}
