// Package outside is the other end of package wrapped: it answers programs inside of "sallyport wrap".
package outside

import (
	"bufio"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/internal/wrapped"
)

const (
	longestCall = 64 << 10
	atOnce      = 64                     // exchanges; more wait
	strangers   = 256                    // connections without a token yet: the oldest of more is closed
	pause       = 100 * time.Millisecond // after an error of accept, such as too many open files
)

// Options configure Serve.
type Options struct {
	Most int64 // bytes of the input of a hook
	// Hook answers a hook, by its words after the program.
	Hook func(args []string, input []byte) wrapped.Answer
	// MCP serves a client until it leaves, or stop is closed.
	MCP func(args []string, in io.Reader, out io.Writer, stop <-chan struct{})
}

// Server answers programs inside.
type Server struct {
	o        Options
	listener net.Listener
	token    string
	stop     chan struct{}
	slots    chan struct{}
	all      sync.WaitGroup

	mu      sync.Mutex
	unknown []net.Conn // the oldest first
}

// Serve begins to answer.
func Serve(o Options) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("answer programs inside: %w", err)
	}
	return serve(o, l), nil
}

func serve(o Options, l net.Listener) *Server {
	s := &Server{
		o: o, listener: l, token: rand.Text(), stop: make(chan struct{}), slots: make(chan struct{}, atOnce),
	}
	s.all.Go(s.accept)
	return s
}

// Link is the content of wrapped.File.
func (s *Server) Link() string { return s.listener.Addr().String() + "/" + s.token }

// Close ends all exchanges.
func (s *Server) Close() {
	close(s.stop)
	_ = s.listener.Close()
	s.all.Wait()
}

func (s *Server) accept() {
	for {
		c, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			select {
			case <-time.After(pause):
				continue
			case <-s.stop:
				return
			}
		}
		s.meet(c)
		s.all.Go(func() { s.exchange(c) })
	}
}

// meet notes a connection that has not sent the token. Programs send it at once, and so the oldest of too
// many is the one to close.
func (s *Server) meet(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unknown = append(s.unknown, c); len(s.unknown) > strangers {
		_ = s.unknown[0].Close()
		s.unknown = slices.Delete(s.unknown, 0, 1)
	}
}

// know ends meet.
func (s *Server) know(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unknown = slices.DeleteFunc(s.unknown, func(other net.Conn) bool { return other == c })
}

// exchange answers one program. Every failure ends the connection, which refuses.
func (s *Server) exchange(c net.Conn) {
	defer func() { _ = recover() }()
	defer func() { _ = c.Close() }()
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-s.stop:
			_ = c.Close()
		case <-over:
		}
	}()
	from := bufio.NewReaderSize(c, longestCall)
	call, ok := s.greet(c, from)
	s.know(c)
	if !ok {
		return
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-s.stop:
		return
	}
	switch wrapped.Verb(call.Args) {
	case "hook":
		s.hook(c, from, call.Args)
	case "mcp":
		if c.SetDeadline(time.Time{}) == nil {
			s.o.MCP(call.Args, from, c, s.stop)
		}
	}
}

// greet reads the beginning of an exchange: ok is false without the token.
func (s *Server) greet(c net.Conn, from *bufio.Reader) (call wrapped.Call, ok bool) {
	if c.SetDeadline(time.Now().Add(wrapped.Greeting)) != nil {
		return call, false
	}
	line, err := from.ReadSlice('\n')
	return call, err == nil && json.Unmarshal(line, &call) == nil &&
		subtle.ConstantTimeCompare([]byte(call.Token), []byte(s.token)) == 1
}

func (s *Server) hook(c net.Conn, from io.Reader, args []string) {
	if c.SetDeadline(time.Now().Add(wrapped.Limit)) != nil {
		return
	}
	input, err := io.ReadAll(io.LimitReader(from, s.o.Most+1)) // one too many is an error of the hook
	if err != nil {
		return
	}
	a := s.o.Hook(args, input)
	a.Whole = true
	_ = json.NewEncoder(c).Encode(a) // the program may have gone
}
