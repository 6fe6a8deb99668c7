package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/sallyport-dev/sallyport/engine"
)

// Serve greets the peer at the other end of stream and serves the environment that open makes until the
// stream or ctx ends. Then it ends everything that was started. The stream is closed.
//
// The end of the stream without a word is the usual end, and no error.
func Serve(ctx context.Context, stream io.ReadWriteCloser,
	open func(Settings) (engine.Environment, Place, error)) error {
	conn := newConnection(stream)
	defer func() { _ = stream.Close() }()
	var env engine.Environment
	greeting, cancel := context.WithTimeout(ctx, greetTime)
	err := within(greeting, stream, func() (err error) {
		env, err = receive(conn, open)
		return err
	})
	cancel()
	if err != nil {
		return err
	}
	session, err := mux(conn, false)
	if err != nil {
		return errors.Join(fmt.Errorf("serve: %w", err), env.Close())
	}
	s := &server{env: env, pipes: map[pipe]chan net.Conn{}}
	go s.accept(session)
	select {
	case <-session.CloseChan():
	case <-ctx.Done():
	}
	return env.Close()
}

// receive greets and opens the environment that was asked for.
func receive(conn *connection, open func(Settings) (engine.Environment, Place, error)) (engine.Environment,
	error) {
	// The supervisor speaks first: another program on this stream shows before anything is sent to it.
	if err := introduceSelf(conn.stream); err != nil {
		return nil, err
	}
	if err := expectPeer(conn.reader); err != nil {
		return nil, err
	}
	var h hello
	if err := readFrame(conn.reader, &h); err != nil {
		return nil, fmt.Errorf("greet: %w", err)
	}
	env, place, err := open(h.settings())
	answer := welcomeOf(place)
	if err != nil {
		answer = welcome{Error: words(err.Error())}
	}
	if werr := writeFrame(conn.stream, answer); err == nil && werr != nil {
		err = errors.Join(fmt.Errorf("greet: %w", werr), env.Close())
	}
	return env, err
}

// server serves one connection.
type server struct {
	env      engine.Environment
	environs environs

	mu    sync.Mutex
	pipes map[pipe]chan net.Conn // streams of output and input, and their waiters
}

// pipe names one output of one process, or its input.
type pipe struct {
	process uint64
	number  int // as a descriptor of it: 0, 1 or 2
}

// accept serves each stream in a goroutine of its own, until the session ends.
func (s *server) accept(session *yamux.Session) {
	slots := make(chan struct{}, maxStreams)
	for {
		st, err := session.Accept()
		if err != nil {
			return
		}
		select {
		case slots <- struct{}{}:
		case <-session.CloseChan():
			return
		}
		go func() {
			defer func() { <-slots }()
			s.serve(st)
		}()
	}
}

// serve reads the purpose of a stream. A stream that breaks the rules is closed; the others go on.
func (s *server) serve(st net.Conn) {
	keep := false
	defer func() {
		if !keep {
			_ = st.Close()
		}
	}()
	var o opening
	_ = st.SetReadDeadline(time.Now().Add(answerTime)) // without one it would only wait longer
	if readFrame(st, &o) != nil {
		return
	}
	_ = st.SetReadDeadline(time.Time{})
	switch o.For {
	case forCalls:
		s.calls(st)
	case forProcess:
		s.process(st, o.Process)
	case forOutput:
		number := 1
		if o.Stderr {
			number = 2
		}
		keep = s.offer(pipe{o.Process, number}, st)
	case forInput:
		keep = s.offer(pipe{o.Process, 0}, st)
	}
}

// place returns where a stream of a process is handed over.
func (s *server) place(o pipe) chan net.Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.pipes[o]
	if c == nil {
		c = make(chan net.Conn, 1)
		s.pipes[o] = c
	}
	return c
}

// offer hands a stream to the process that it is for, and reports whether it is taken or will be.
func (s *server) offer(o pipe, st net.Conn) bool {
	select {
	case s.place(o) <- st:
		return true
	default:
		return false
	}
}

// take waits for a stream of a process.
func (s *server) take(o pipe) (net.Conn, error) {
	place := s.place(o)
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.pipes, o)
	}()
	select {
	case st := <-place:
		return st, nil
	case <-time.After(answerTime):
		return nil, violation("no stream for output or input")
	}
}
