package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
)

// ServeStdio serves one client: it reads messages from in and writes replies to out, a line each, until in
// ends or ctx does. Calls under way at the end of input are answered; those without progress are ended. The
// error is about the streams; a client that goes away is none.
//
// mcp-go has a stdio server of its own. It is not used because it loses replies at the end of input, runs
// calls that were cancelled while they waited, and lets notifications overtake each other.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &pump{server: s, out: &lineWriter{w: out, broken: cancel}}
	p.session = newSession(p.out)
	p.calls = newCalls(s.o.Calls, s.crew)
	defer s.crew.dismiss()
	// The calls get a context that outlives the reading: they end by being cancelled one by one.
	p.ctx = s.mcp.WithContext(context.WithoutCancel(ctx), p.session)
	if err := s.mcp.RegisterSession(p.ctx, p.session); err != nil {
		return fmt.Errorf("open MCP session: %w", err)
	}
	defer s.mcp.UnregisterSession(p.ctx, p.session.SessionID())
	forwarding, stop := context.WithCancel(context.Background())
	defer stop()
	go p.session.forward(forwarding)

	// Reading has a goroutine of its own: it may hang on writing a reply that nobody takes, and a signal
	// must end the server all the same.
	read := make(chan error, 1)
	go func() { read <- p.read(ctx, lines(ctx, in, s.o.Line)) }()
	var err error
	select {
	case err = <-read:
	case <-ctx.Done():
	}
	p.session.close() // nobody answers questions any more
	p.drain(ctx, readerGone(ctx, out))
	return err
}

// pump is one client on its streams.
type pump struct {
	server  *Server
	ctx     context.Context
	session *session
	out     *lineWriter
	calls   *calls
}

// read serves messages until there are none.
func (p *pump) read(ctx context.Context, in <-chan line) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case l, ok := <-in:
			switch {
			case !ok:
				return nil
			case hungUp(l.err):
				return nil
			case l.err != nil:
				return fmt.Errorf("read from the client: %w", l.err)
			case l.tooLong:
				p.reject(nil, mcp.INVALID_REQUEST, fmt.Sprintf("message longer than %d bytes", p.server.o.Line))
			default:
				p.serve(l.text)
			}
		}
	}
}

// hungUp reports an error of reading that only says that the other side is gone.
func hungUp(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EIO) ||
		errors.Is(err, io.ErrClosedPipe) || errors.Is(err, fs.ErrClosed)
}

// envelope is the part of a message that its routing needs. mcp-go reads the same names in the same way, so
// both see one message.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// serve handles one message. It returns at once if that may take time.
func (p *pump) serve(message []byte) {
	message = bytes.TrimSpace(message)
	if len(message) == 0 {
		return
	}
	if !utf8.Valid(message) {
		p.reject(nil, mcp.PARSE_ERROR, "Parse error: the message is not valid UTF-8")
		return
	}
	var e envelope
	if err := json.Unmarshal(message, &e); err != nil {
		if json.Valid(message) {
			p.reject(nil, mcp.INVALID_REQUEST, "Invalid request: a message must be a JSON object with a method")
		} else {
			p.reject(nil, mcp.PARSE_ERROR, "Parse error: the message is not valid JSON")
		}
		return
	}
	id, ok := requestID(e.ID)
	switch {
	case !ok:
		p.reject(nil, mcp.INVALID_REQUEST, "Invalid request: the id must be a string or a number")
	case e.Method == "" && (e.Result != nil || e.Error != nil):
		p.session.answer(id, e.Result, e.Error)
	case e.Method == string(mcp.MethodNotificationCancelled) && id == "":
		p.cancelled(message)
	case e.Method == string(mcp.MethodToolsCall) && id != "":
		p.call(id, e.ID, message, false)
	case e.Method == string(mcp.MethodSubscriptionsListen) && id != "":
		p.call(id, e.ID, message, true)
	default:
		// All else is short, and in order: a call that follows initialize finds its client known.
		if reply := p.server.mcp.HandleMessage(p.ctx, message); reply != nil {
			p.out.send(addressed(reply, e.ID))
		}
	}
}

// addressed gives a reply the id of its request as it was written: as a number it would lose digits.
func addressed(reply mcp.JSONRPCMessage, id json.RawMessage) mcp.JSONRPCMessage {
	if len(id) == 0 {
		return reply
	}
	switch r := reply.(type) {
	case mcp.JSONRPCResponse:
		r.ID = mcp.NewRequestId(id)
		return r
	case mcp.JSONRPCError:
		r.ID = mcp.NewRequestId(id)
		return r
	}
	return reply
}

// requestID returns the id of a request in a form to compare, "" for none.
func requestID(raw json.RawMessage) (id string, ok bool) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return "", true
	case raw[0] == '"' || raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9':
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			return "", false
		}
		if s, isText := v.(string); isText {
			return "s" + s, true
		}
		return "n" + string(raw), true
	}
	return "", false
}

// cancelled ends the request that a notification names.
func (p *pump) cancelled(message []byte) {
	var n struct {
		Params struct {
			RequestID json.RawMessage `json:"requestId"`
		} `json:"params"`
	}
	if json.Unmarshal(message, &n) != nil {
		return // a notification has no reply, so nobody could be told
	}
	if id, ok := requestID(n.Params.RequestID); ok {
		p.calls.cancel(id)
	}
}

// call takes up a request that may last. A listening request holds no place among the calls.
func (p *pump) call(id string, raw json.RawMessage, message []byte, listening bool) {
	ctx, cancel := context.WithCancel(p.ctx)
	c := &pending{id: id, cancel: cancel, listening: listening, size: len(message)}
	c.run = func(c *pending) {
		reply := p.server.mcp.HandleMessage(ctx, message)
		if reply != nil && !c.withdrawn() {
			p.out.send(addressed(reply, raw))
		}
	}
	c.abandon = func(
		*pending) {
		p.reject(raw, mcp.INTERNAL_ERROR, "the server is ending: the call did not run")
	}
	if why := p.calls.add(c); why != "" {
		cancel()
		p.reject(raw, mcp.INVALID_REQUEST, why)
	}
}

// reject answers with an error of the protocol.
func (p *pump) reject(id json.RawMessage, code int, message string) {
	var value any
	if len(id) > 0 {
		value = id
	}
	p.out.send(mcp.JSONRPCError{
		JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(value),
		Error: mcp.NewJSONRPCErrorDetails(code, message, nil),
	})
}

// endTime is how long calls have to end once they are told to; their processes are ended in any case when
// the gate closes.
const endTime = 5 * time.Second

// drain lets calls finish. It waits as long as one reply after the other comes; when there is none for a
// while, or nobody reads any more, or ctx ends, the rest is ended.
func (p *pump) drain(ctx context.Context, gone <-chan struct{}) {
	p.calls.endListening()
	quiet := time.NewTimer(p.server.o.Quiet)
	defer quiet.Stop()
waiting:
	for {
		select {
		case <-p.calls.empty():
			return
		case <-p.calls.finished:
			quiet.Reset(p.server.o.Quiet)
		case <-quiet.C:
			break waiting
		case <-gone:
			break waiting
		case <-ctx.Done():
			break waiting
		}
	}
	p.calls.endAll()
	select {
	case <-p.calls.empty():
	case <-time.After(endTime):
		p.server.o.Log.Warn("calls did not end in time", "seconds", endTime.Seconds())
	}
}

// lineWriter writes messages, each whole and on its own line.
type lineWriter struct {
	mu     sync.Mutex
	w      io.Writer
	failed bool
	broken func() // called once, when nobody reads any more
}

func (l *lineWriter) send(message any) {
	text, err := json.Marshal(message)
	if err != nil {
		// Our own types marshal; the client must not wait for a reply for ever all the same.
		text, _ = json.Marshal(mcp.JSONRPCError{
			JSONRPC: mcp.JSONRPC_VERSION, Error: mcp.NewJSONRPCErrorDetails(mcp.INTERNAL_ERROR,
				"reply cannot be written as JSON", nil),
		})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed {
		return
	}
	if _, err := l.w.Write(append(text, '\n')); err != nil {
		l.failed = true
		l.broken()
	}
}

// line is one line of input, or why there are no more.
type line struct {
	text    []byte
	tooLong bool
	err     error
}

// lines reads in line by line. Of a line longer than most nothing is kept. The channel is closed at the
// end of input. The reading itself cannot be interrupted: its goroutine may outlast ctx, until in ends.
func lines(ctx context.Context, in io.Reader, most int) <-chan line {
	out := make(chan line)
	go func() {
		defer close(out)
		r := bufio.NewReaderSize(in, 64<<10)
		for {
			l, end := readLine(r, most)
			if len(l.text) > 0 || l.tooLong || l.err != nil {
				select {
				case out <- l:
				case <-ctx.Done():
					return
				}
			}
			if end {
				return
			}
		}
	}()
	return out
}

// readLine reads one line without its end. Text after the last line break counts as a line.
func readLine(r *bufio.Reader, most int) (l line, end bool) {
	var kept bytes.Buffer
	for {
		part, err := r.ReadSlice('\n')
		if !l.tooLong {
			if kept.Len()+len(part) > most+1 {
				l.tooLong = true
				kept = bytes.Buffer{}
			} else {
				kept.Write(part)
			}
		}
		switch {
		case err == nil:
			l.text = bytes.TrimSuffix(kept.Bytes(), []byte("\n"))
			return l, false
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF):
			l.text = kept.Bytes()
			return l, true
		default:
			return line{err: err}, true
		}
	}
}
