package resident

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sallyport-dev/sallyport/internal/usersocket"
)

// ErrServed is the error if another process answers for the same view already.
var ErrServed = errors.New("another process answers already")

// Options configure Serve.
type Options struct {
	Dir, View string
	Program   string        // file of this program; the process ends when another takes its place
	Idle      time.Duration // the process ends after that long without a call
	// Otherwise is the answer of a call whose exchange breaks off.
	Otherwise func(Call) Answer
	// Answer answers a call. ctx ends when the program that asked has gone. After a panic the exchange breaks
	// off.
	Answer func(ctx context.Context, c Call) Answer

	clock clock // the zero value is that of the machine
	room  int64 // for messages, in bytes; 0 is roomForAll
}

// clock tells when to look whether the process is still wanted.
type clock struct {
	look <-chan time.Time
	now  func() time.Time
}

const (
	lookEvery = 5 * time.Second
	patience  = time.Minute // with a program that does not send its input
	finishing = 30 * time.Second
)

const (
	// roomForAll bounds the bytes of messages that a process holds at once. An exchange beyond it breaks off.
	roomForAll = 4 * largest
	// freeEach is the part of each exchange that does not count, so that large events refuse no usual one.
	freeEach = 256 << 10
)

var errFull = errors.New("the messages of all programs together are too large")

// counted is the connection of an exchange that takes room for the bytes that it reads.
type counted struct {
	io.Reader
	server *server

	mu          sync.Mutex
	read, taken int64
	over        bool
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over { // signals of a program may be awaited until its connection is closed
		return n, err
	}
	c.read += int64(n)
	more := max(c.read-freeEach, 0) - c.taken
	c.taken += more
	if held := c.server.held.Add(more); more > 0 && held > c.server.room {
		return n, errFull
	}
	return n, err
}

// release gives the room back. A later read takes none.
func (c *counted) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.server.held.Add(-c.taken)
	c.taken, c.over = 0, true
}

// server is a running Serve.
type server struct {
	Options
	listener *net.UnixListener
	socket   os.FileInfo
	program  os.FileInfo
	calls    sync.WaitGroup
	held     atomic.Int64 // bytes of messages

	mu   sync.Mutex
	open int
	last time.Time // of an end of a call, or of the start
}

// Serve answers calls until ctx ends, until no call has come for the idle time, or until its socket or its
// program is replaced. Calls that have begun are finished first.
func Serve(ctx context.Context, o Options) error {
	if !Supported || o.Dir == "" {
		return fmt.Errorf("answer short programs: %w", errors.ErrUnsupported)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return fmt.Errorf("answer short programs: %w", err)
	}
	unlock, err := lock(filepath.Join(o.Dir, nameOf(o.View, ".lock")))
	if err != nil {
		return fmt.Errorf("answer short programs: %w", err)
	}
	defer unlock()
	file := filepath.Join(o.Dir, nameOf(o.View, ".sock"))
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("answer short programs: %w", err)
	}
	l, release, err := usersocket.Listen(o.Dir, filepath.Base(file))
	if err != nil {
		return fmt.Errorf("answer short programs: %w", err)
	}
	defer release()
	l.SetUnlinkOnClose(false) // the name may belong to another process by then
	if o.clock.now == nil {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		o.clock = clock{tick.C, time.Now}
	}
	o.room = cmp.Or(o.room, roomForAll)
	s := &server{Options: o, listener: l, last: o.clock.now()}
	if s.socket, err = os.Lstat(file); err == nil {
		s.program, err = os.Stat(o.Program)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("answer short programs: %w", err), l.Close())
	}
	s.run(ctx, file)
	return nil
}

func (s *server) run(ctx context.Context, file string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer cancel() // without it, programs would wait for a greeting that never comes
		for {
			c, err := s.listener.AcceptUnix()
			if err != nil { // the listener is closed, or there are too many files
				return
			}
			s.begin()
			s.calls.Go(func() {
				defer s.end()
				s.exchange(context.WithoutCancel(ctx), c)
			})
		}
	}()
	for s.wanted(ctx, file) {
		select {
		case <-ctx.Done():
		case <-s.clock.look:
		}
	}
	if now, err := os.Lstat(file); err == nil && same(now, s.socket) {
		_ = os.Remove(file)
	}
	_ = s.listener.Close()
	<-done
	s.calls.Wait() // each has its own limits
}

// wanted reports whether the process goes on.
func (s *server) wanted(ctx context.Context, file string) bool {
	socket, err := os.Lstat(file)
	if err != nil || !same(socket, s.socket) || ctx.Err() != nil {
		return false
	}
	program, err := os.Stat(s.Program)
	if err != nil || !same(program, s.program) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open > 0 || s.clock.now().Sub(s.last) < s.Idle
}

// same reports whether a file is the one of earlier: a new one may get the number of one that was removed.
func same(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Mode() == b.Mode() && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

func (s *server) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open++
}

func (s *server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	s.last = s.clock.now()
}

// exchange answers the program at the other end of a connection. Whatever fails ends the connection, and the
// program does without.
func (s *server) exchange(ctx context.Context, c *net.UnixConn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer func() { _ = c.Close() }()
	defer func() { _ = recover() }() // the connection breaks off, which refuses
	if usersocket.Ours(c) != nil || c.SetDeadline(time.Now().Add(patience)) != nil ||
		send(c, Greeting{Version, s.View}) != nil {
		return
	}
	var call Call
	in := &counted{Reader: c, server: s}
	defer in.release()
	files := &handed{conn: c}
	defer files.close()
	in.Reader = files
	if receive(in, &call) != nil {
		return
	}
	call.Process = usersocket.Process(c)
	if call.Live != nil {
		s.live(ctx, c, in, call, files.got)
		return
	}
	if send(c, s.Otherwise(call)) != nil || receive(in, &call.Input) != nil {
		return
	}
	if c.SetReadDeadline(time.Time{}) != nil {
		return
	}
	go func() { // nothing more comes: the next event is the end of the program
		_, _ = io.Copy(io.Discard, c)
		cancel()
	}()
	answer := s.Answer(ctx, call)
	in.release() // before the program has its answer, and with it can ask again
	if c.SetWriteDeadline(time.Now().Add(finishing)) == nil {
		_ = send(c, answer) // the program may have gone
	}
}
