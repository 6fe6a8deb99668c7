package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
)

// Options configure Connect, besides the stream.
type Options struct {
	Settings
	// Prefixed turns the text that was asked for into the one to judge and run; nil leaves it as it is.
	// A supervisor changes no text.
	Prefixed func(text string, posix bool) string
	// Told has the facts of the place read, before the supervisor's line, and called with them; nil for a stream
	// without them.
	Told func(Told)
	// Explain adds facts about the stream to the error of a broken connection; nil adds nothing. An error
	// that wraps ErrSilent says that commands may run on: a caller that can end the whole place ends it here.
	Explain func(error) error
	// EndMargin is the time past its timeout and its grace period within which the end of a command must be
	// told, or the supervisor is silent; 0 for 90 seconds. It does not hold for elevated commands.
	EndMargin time.Duration
	// Ended is called with the id of each command before its end is told; nil for nothing.
	Ended func(id string)
}

// ErrSilent is wrapped by the error of a supervisor that does not answer in time.
var ErrSilent = errors.New("the supervisor is silent")

// ErrLost is wrapped by every error of an Environment with a broken connection.
var ErrLost = errors.New("the connection to the environment is lost")

var errClosed = errors.New("environment is closed")

// Environment is the environment of a supervisor elsewhere. It breaks for good: after the first missing or
// invalid answer, every call is an error.
type Environment struct {
	o       Options
	place   Place
	made    Told // by a plugin
	session *yamux.Session
	numbers atomic.Uint64

	environs environs

	told chan struct{} // closed when all is known about why it is broken

	starting sync.WaitGroup // Start calls under way

	mu     sync.Mutex
	err    error // why it is broken
	closed bool
	idle   []net.Conn // streams on which calls can be made
	live   map[*process]struct{}
}

var _ engine.Remote = (*Environment)(nil)

// Connect greets the supervisor at the other end of stream. The stream belongs to the Environment, or
// is closed if there is none.
func Connect(ctx context.Context, stream io.ReadWriteCloser, o Options) (*Environment, error) {
	if o.Explain == nil {
		o.Explain = func(err error) error { return err }
	}
	e := &Environment{o: o, live: map[*process]struct{}{}, told: make(chan struct{})}
	conn := newConnection(stream)
	err := within(ctx, stream, func() (err error) {
		if o.Told != nil {
			if e.made, err = readTold(conn.reader); err != nil {
				return err
			}
			defer func() {
				if err == nil {
					o.Told(e.made)
				}
			}()
		}
		e.place, err = introduce(conn, o.Settings)
		return err
	})
	if err == nil {
		e.session, err = mux(conn, true)
	}
	if err != nil {
		_ = stream.Close()
		return nil, o.Explain(err)
	}
	go func() {
		<-e.session.CloseChan()
		_ = e.broke(errors.New("the stream ended"))
	}()
	return e, nil
}

// introduce greets and sends the settings.
func introduce(conn *connection, s Settings) (Place, error) {
	if err := expectPeer(conn.reader); err != nil {
		return Place{}, err
	}
	if err := introduceSelf(conn.stream); err != nil {
		return Place{}, err
	}
	if err := writeFrame(conn.stream, helloOf(s)); err != nil {
		return Place{}, fmt.Errorf("greet: %w", err)
	}
	var w welcome
	if err := readFrame(conn.reader, &w); err != nil {
		return Place{}, fmt.Errorf("greet: %w", err)
	}
	if w.Error != "" {
		return Place{}, fmt.Errorf("the supervisor says: %s", words(w.Error))
	}
	return w.place()
}

// Place is the supervisor's description of its place.
func (e *Environment) Place() Place { return e.place }

// Made describes, for the environment's log, the place that a plugin has made; nil without one.
func (e *Environment) Made() map[string]any {
	if e.made.Name == "" {
		return nil
	}
	return map[string]any{
		"container_id": e.made.Name, "image": e.made.Image, "image_id": e.made.Digest, "node": e.made.Node,
	}
}

// SeesPrograms reports whether engine.Command.MayStart is asked.
func (e *Environment) SeesPrograms() bool { return e.place.Programs }

// Shortcomings lists, for people, the promises that the place cannot keep.
func (e *Environment) Shortcomings() []string { return slices.Clone(e.place.Shortcomings) }

// Layout adds the differences between the place and this machine.
func (e *Environment) Layout(l facts.Layout) facts.Layout { return e.place.Layout(l, e.FS()) }

// Layout adds the differences between the place and this machine. files are those of the place.
func (p Place) Layout(l facts.Layout, files facts.FS) facts.Layout {
	l.Home, l.POSIX = slashed(p.Home), p.POSIX
	l.Temporary = nil
	for _, dir := range p.Temporary {
		l.Temporary = append(l.Temporary, slashed(dir))
	}
	if exe := slashed(p.Executable); exe != "" {
		l.Self = append(slices.Clone(l.Self), facts.Place{Path: exe, Label: "self_binary"})
	}
	l.Roots = slices.Clone(l.Roots)
	for i, r := range l.Roots {
		info, err := files.Lstat(r.Path)
		l.Roots[i].File = err == nil && info.Mode().IsRegular()
	}
	return l
}

func slashed(p string) string {
	if p == "" {
		return ""
	}
	return path.Clean(strings.ReplaceAll(p, `\`, "/"))
}

// Err says why the environment is broken; nil as long as it is not. It waits for the explanation: a caller
// that learns of a break needs the fix.
func (e *Environment) Err() error {
	e.mu.Lock()
	broken := e.err != nil
	e.mu.Unlock()
	if !broken {
		return nil
	}
	<-e.told
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lost()
}

// lost is the error of every call once the environment is broken. The caller holds e.mu.
func (e *Environment) lost() error {
	if e.closed {
		return errClosed
	}
	return fmt.Errorf("%w: %w", ErrLost, e.err)
}

// broke breaks the environment, if it is not broken yet, and returns why it is.
func (e *Environment) broke(why error) error {
	e.mu.Lock()
	first, closed := e.err == nil, e.closed
	if first {
		e.err = why // nothing starts from here on
	}
	e.mu.Unlock()
	if !first {
		<-e.told
		return e.Err()
	}
	_ = e.session.Close() // the streams of everything that runs end with it
	if !closed {          // that needs no explanation
		why = e.o.Explain(why)
		e.mu.Lock()
		e.err = why
		e.mu.Unlock()
	}
	close(e.told)
	return e.Err()
}

// Prepare asks for the environment of a command in a directory, and for the files on the way to that. The
// text is not sent.
func (e *Environment) Prepare(text, workDir string) (engine.Command, error) {
	ways := []string{workDir, disk.Join(workDir, disk.AnyName)}
	c, err := e.dial(request{Op: opEnviron, Path: exact(workDir), Paths: exacts(ways)})
	var got environ
	if err == nil {
		got, err = c.environ(exact(workDir))
	}
	if err != nil {
		return engine.Command{}, fmt.Errorf("prepare command: %w", err)
	}
	r := got.reply
	if len(r.Env) > maxVariables {
		return engine.Command{}, e.broke(violation("environment of %d variables", len(r.Env)))
	}
	if err := e.few(r, len(ways)); err != nil {
		return engine.Command{}, err
	}
	if e.o.Prefixed != nil {
		text = e.o.Prefixed(text, e.place.POSIX)
	}
	return engine.Command{Text: text, WorkDir: workDir, Env: r.Env, Seen: r.Nodes}, nil
}

// FS shows the files of the place, as its processes see them.
func (e *Environment) FS() facts.FS { return remoteFS{e: e} }

// Files reaches the files of the place, following no symbolic link.
func (e *Environment) Files() engine.Files { return remoteFiles{e} }

// Close ends everything that was started, waits until it is gone and closes the stream.
func (e *Environment) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true // nothing starts any more
	e.mu.Unlock()
	e.starting.Wait()
	e.mu.Lock()
	live := make([]*process, 0, len(e.live))
	for p := range e.live {
		live = append(live, p)
	}
	e.mu.Unlock()
	for _, p := range live {
		p.Kill("environment closed")
	}
	left := 0
	for _, p := range live {
		left += p.Wait().Survivors
	}
	_ = e.broke(errors.New("closed"))
	if left > 0 {
		return fmt.Errorf("close environment: %d processes could not be ended", left)
	}
	return nil
}

// open opens a stream.
func (e *Environment) open() (net.Conn, error) {
	st, err := e.session.OpenStream()
	if err != nil {
		return nil, e.broke(fmt.Errorf("open stream: %w", err))
	}
	return st, nil
}

// begin opens a stream and states its purpose.
func (e *Environment) begin(o opening) (net.Conn, error) {
	st, err := e.open()
	if err != nil {
		return nil, err
	}
	if err := writeFrame(st, o); err != nil {
		return nil, e.broke(fmt.Errorf("open stream: %w", err))
	}
	return st, nil
}

// call makes a request and returns its reply. An error of the request itself is one; that of the
// connection breaks the environment.
func (e *Environment) call(q request) (reply, error) {
	c, err := e.dial(q)
	if err != nil {
		return reply{}, err
	}
	r, err := c.reply()
	if err != nil {
		return reply{}, err
	}
	if r.More {
		return reply{}, c.bad(violation("a reply that goes on"))
	}
	c.free()
	return r, r.Error.err()
}

// callStream is a stream on which one request is under way.
type callStream struct {
	net.Conn
	e     *Environment
	op    string
	until time.Time // of the request
}

// maxIdle is how many streams are kept for further calls.
const maxIdle = 8

// dial sends a request on an idle stream or a new one.
func (e *Environment) dial(q request) (*callStream, error) {
	if !q.until.IsZero() && time.Now().After(q.until) {
		return nil, fmt.Errorf("%s: %w", q.Op, os.ErrDeadlineExceeded)
	}
	e.mu.Lock()
	if e.err != nil {
		e.mu.Unlock()
		return nil, e.Err()
	}
	var st net.Conn
	if n := len(e.idle); n > 0 {
		st, e.idle = e.idle[n-1], e.idle[:n-1]
	}
	e.mu.Unlock()
	if st == nil {
		var err error
		if st, err = e.begin(opening{For: forCalls}); err != nil {
			return nil, err
		}
	}
	c := &callStream{st, e, q.Op, q.until}
	if err := writeFrame(st, q); err != nil {
		return nil, c.bad(err)
	}
	return c, nil
}

// environ reads the reply about an environment, and is done with the stream.
func (c *callStream) environ(dir exact) (environ, error) {
	c.patient()
	got, err := c.e.environs.read(c.Conn, dir)
	if err == nil && got.reply.More {
		err = violation("a reply that goes on")
	}
	if err != nil {
		return environ{}, c.bad(err)
	}
	c.free()
	return got, got.reply.Error.err()
}

// reply reads the next reply to the request.
func (c *callStream) reply() (r reply, err error) {
	c.patient()
	if err := readFrame(c.Conn, &r); err != nil {
		if !c.until.IsZero() && time.Now().After(c.until) {
			_ = c.Close() // the answer may come yet: to nobody
			return reply{}, fmt.Errorf("%s: %w", c.op, os.ErrDeadlineExceeded)
		}
		return reply{}, c.bad(err)
	}
	if r.Info != nil {
		if err := r.Info.check(); err != nil {
			return reply{}, c.bad(err)
		}
	}
	return r, nil
}

// patient gives the other side time for its next move.
func (c *callStream) patient() {
	t := time.Now().Add(answerTime)
	if !c.until.IsZero() && c.until.Before(t) {
		t = c.until
	}
	_ = c.SetReadDeadline(t)
}

// bad breaks the environment: an answer did not come or makes no sense.
func (c *callStream) bad(err error) error {
	return c.e.broke(fmt.Errorf("%s: %w", c.op, broken(err)))
}

// free returns the stream for the next call.
func (c *callStream) free() {
	_ = c.SetReadDeadline(time.Time{})
	c.e.mu.Lock()
	keep := len(c.e.idle) < maxIdle && c.e.err == nil
	if keep {
		c.e.idle = append(c.e.idle, c.Conn)
	}
	c.e.mu.Unlock()
	if !keep {
		_ = c.Close()
	}
}
