package resident

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// Gone is the signal of a program that has ended: nobody waits for its command.
const Gone = syscall.SIGKILL

// ErrDeclined is the error of a live call that the process leaves to its program.
var ErrDeclined = errors.New("the resident process leaves this call to its program")

// Run sends a live call with the outputs of this program, passes signals on and returns the answer. caught
// begins to catch them: it is called when the process has accepted the call. An error says that this process
// must do its work itself. After that a failure gives the answer that the resident process has named for it.
func (p *Process) Run(c Call, out, errs *os.File, caught func() <-chan os.Signal) (Answer, error) {
	defer func() { _ = p.conn.Close() }()
	c.Live = &Live{}
	if err := sendWith(p.conn, c, out, errs); err != nil {
		return Answer{}, fmt.Errorf("ask the resident process: %w", err)
	}
	var otherwise Answer
	if err := receive(p.conn, &otherwise); err != nil {
		return Answer{}, fmt.Errorf("ask the resident process: %w", err)
	}
	if otherwise.Declined {
		return Answer{}, ErrDeclined
	}
	signals := caught()
	if err := errors.Join(p.conn.SetDeadline(time.Time{}), send(p.conn, []byte{})); err != nil {
		return otherwise, nil //nolint:nilerr // it may have begun
	}
	done := make(chan Answer, 1)
	go func() {
		var a Answer
		if receive(p.conn, &a) != nil {
			a = otherwise
		}
		done <- a
	}()
	for {
		select {
		case a := <-done:
			return a, nil
		case s := <-signals:
			if n, ok := s.(syscall.Signal); ok {
				_ = send(p.conn, int(n)) // a process that has gone is the end of done
			}
		}
	}
}

// live answers a live call.
func (s *server) live(ctx context.Context, c *net.UnixConn, in io.Reader, call Call, files []*os.File) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if len(files) != 2 {
		return
	}
	accepted := false
	l := call.Live
	l.Out, l.Err, l.Signals = files[0], files[1], make(chan os.Signal, 8)
	l.Accept = func() error {
		var begin []byte
		if err := errors.Join(send(c, s.Otherwise(call)), receive(in, &begin)); err != nil {
			return fmt.Errorf("the program does not wait: %w", err)
		}
		accepted = true
		go func() {
			defer cancel()
			l.pass(in)
		}()
		return c.SetReadDeadline(time.Time{})
	}
	answer := s.Answer(ctx, call)
	if !accepted {
		answer = Answer{Declined: true}
	}
	if c.SetWriteDeadline(time.Now().Add(finishing)) == nil {
		_ = send(c, answer) // the program may have gone
	}
}

// pass passes signals on until the program has gone.
func (l *Live) pass(in io.Reader) {
	for {
		var n int
		came := os.Signal(Gone)
		err := receive(in, &n)
		if err == nil {
			came = syscall.Signal(n)
		}
		select {
		case l.Signals <- came:
		default: // there are enough of them, but for the last
			if err != nil {
				go func() { l.Signals <- came }()
			}
		}
		if err != nil {
			return
		}
	}
}
