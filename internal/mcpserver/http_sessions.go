package mcpserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// SessionOptions make a session of each client: a server with a gate of its own.
type SessionOptions struct {
	// Open makes the server of a session of that name. The function that it returns ends all that runs in it.
	Open func(ctx context.Context, name string) (*Server, func() error, error)
	Idle time.Duration // after its last message a session ends
	Most int           // sessions at once; a client more is told to try again
}

// ListenSessions serves a session for each client over HTTP until ctx ends: for each handshake, and for
// clients of protocols without sessions one for each token. Its error is about the transport.
func ListenSessions(ctx context.Context, log hclog.Logger, o HTTPOptions, s SessionOptions) error {
	if log == nil {
		log = hclog.NewNullLogger()
	}
	all := &sessions{o: s, log: log, ctx: context.WithoutCancel(ctx), all: map[string]*client{}}
	sweeping, stop := context.WithCancel(ctx)
	defer stop()
	go all.sweep(sweeping)
	o.End = all.end
	return serveHandler(ctx, all, all.shutdown, all.log, o)
}

// sessions has the sessions of a server by their ids.
type sessions struct {
	o   SessionOptions
	log hclog.Logger
	ctx context.Context // of the work of sessions between messages

	mu     sync.Mutex
	closed bool
	all    map[string]*client
	gone   sync.WaitGroup // sessions that are ending; begun with mu, before the end of all
}

// client is a session. It belongs to the senders of the token that opened it.
type client struct {
	id, token string
	opened    sync.Once
	err       error // of opening it
	transport *server.StreamableHTTPServer
	end       func() error

	calls int       // under way; guarded by the mutex of sessions
	used  time.Time // when the last one ended
}

var (
	errFull   = errors.New("too many sessions: try again when one has ended")
	errEnding = errors.New("the server ends: try again")
)

// ServeHTTP passes a message on to the session that it names, or to a new one.
func (s *sessions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token := senderOf(r.Context())
	id := r.Header.Get(server.HeaderKeySessionID)
	modern := mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion))
	begins := false
	switch {
	case modern:
		id, begins = "token "+token, true // its clients know no ids
	case r.Method == http.MethodPost && isHandshake(r):
		id, begins = rand.Text(), true
	}
	c, err := s.enter(id, token, begins)
	switch {
	case err != nil:
		w.Header().Set("Retry-After", "5")
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	case c == nil: // clients shake hands anew then
		http.Error(w, "no such session: begin with initialize", http.StatusNotFound)
		return
	}
	defer s.leave(c)
	c.opened.Do(func() { c.err = s.open(c) })
	if c.err != nil {
		s.log.Error("a session cannot be opened", "error", c.err)
		http.Error(w, "the session cannot be opened: see the log of the server", http.StatusInternalServerError)
		return
	}
	c.transport.ServeHTTP(w, r)
	if r.Method == http.MethodDelete && !modern {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.drop(c)
	}
}

// isHandshake reports a message that begins a session. The guard has read the body.
func isHandshake(r *http.Request) bool {
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var message struct {
		Method mcp.MCPMethod `json:"method"`
	}
	return err == nil && json.Unmarshal(body, &message) == nil && message.Method == mcp.MethodInitialize
}

// enter counts a message of a session, which may begin with it. It is nil where there is no such session, or
// where it is another client's.
func (s *sessions) enter(id, token string, begins bool) (*client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.all[id]
	switch {
	case s.closed:
		return nil, errEnding
	case c != nil && c.token != token:
		return nil, nil
	case c == nil && !begins:
		return nil, nil
	case c == nil && len(s.all) >= s.o.Most:
		return nil, errFull
	case c == nil:
		c = &client{id: id, token: token}
		s.all[id] = c
	}
	c.calls++
	return c, nil
}

func (s *sessions) leave(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.calls--
	c.used = time.Now()
	if c.err != nil && s.all[c.id] == c {
		delete(s.all, c.id)
	}
}

// open makes the server of a session.
func (s *sessions) open(c *client) error {
	made, end, err := s.o.Open(s.ctx, "http-"+rand.Text()[:16])
	if err != nil {
		return err
	}
	c.end = end
	c.transport = server.NewStreamableHTTPServer(made.mcp,
		server.WithSessionIdManager(only(c.id)),
		server.WithStreamableHTTPLogger(slog.New(slogTo(s.log, hclog.Debug))))
	acknowledge(made.mcp, answerTime)
	return nil
}

// only is the manager of the one session of a server.
type only string

// Generate returns the id of the session.
func (o only) Generate() string { return string(o) }

// Validate refuses other ids.
func (o only) Validate(id string) (ended bool, err error) {
	if id != string(o) {
		return false, errors.New("no such session")
	}
	return false, nil
}

// Terminate lets a client end its session.
func (o only) Terminate(string) (refused bool, err error) { return false, nil }

// drop has a session end, unless it ends already. The caller holds mu, so no message enters meanwhile.
func (s *sessions) drop(c *client) {
	if s.closed || s.all[c.id] != c {
		return
	}
	delete(s.all, c.id)
	if c.end == nil {
		return
	}
	s.gone.Go(func() {
		if err := c.end(); err != nil {
			s.log.Warn("the end of a session", "error", err)
		}
	})
}

// sweep ends sessions of clients that have gone without a word, until ctx ends.
func (s *sessions) sweep(ctx context.Context) {
	turn := time.NewTicker(max(s.o.Idle/4, time.Millisecond))
	defer turn.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-turn.C:
			s.mu.Lock()
			for _, c := range s.all {
				if c.calls == 0 && now.Sub(c.used) > s.o.Idle {
					s.drop(c)
				}
			}
			s.mu.Unlock()
		}
	}
}

// end ends all sessions, waits for those that end already, and lets none begin.
func (s *sessions) end() error {
	s.mu.Lock()
	s.closed = true
	var all []*client
	for _, c := range s.all {
		all = append(all, c)
	}
	s.mu.Unlock()
	errs := make([]error, len(all))
	var ending sync.WaitGroup
	for i, c := range all {
		ending.Go(func() {
			c.opened.Do(func() { c.err = errEnding }) // waits for one that is being opened
			if c.end != nil {
				errs[i] = c.end()
			}
		})
	}
	ending.Wait()
	s.gone.Wait()
	return errors.Join(errs...)
}

// shutdown ends the streams on which clients listen.
func (s *sessions) shutdown(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, c := range s.all {
		if c.transport != nil {
			errs = append(errs, c.transport.Shutdown(ctx))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("end MCP sessions: %w", err)
	}
	return nil
}
