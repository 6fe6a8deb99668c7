package resident

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/sallyport-dev/sallyport/internal/usersocket"
)

// Process is a resident process that has greeted this one.
type Process struct{ conn *net.UnixConn }

// Patience is how long a process may take to greet, and to accept a call: it need not look at anything
// before.
const Patience = time.Second

// Find connects to the resident process of a view in dir, which runs the program in a file, and waits as long
// as patience until it has accepted a call. Any error says that this process must do its work itself.
func Find(dir, view, program string, patience time.Duration) (*Process, error) {
	if dir == "" || !Supported {
		return nil, errors.ErrUnsupported
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := usersocket.Dial(ctx, dir, nameOf(view, ".sock"))
	if err != nil {
		return nil, fmt.Errorf("reach the resident process: %w", err)
	}
	p := &Process{c}
	if err := p.greeted(view, program, patience); err != nil {
		return nil, errors.Join(fmt.Errorf("reach the resident process: %w", err), c.Close())
	}
	return p, nil
}

func (p *Process) greeted(view, program string, patience time.Duration) error {
	if err := usersocket.Runs(p.conn, program); err != nil {
		return err
	}
	if err := p.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	var g Greeting
	switch err := receive(p.conn, &g); {
	case err != nil:
		return err
	case g.Version != Version:
		return fmt.Errorf("it speaks version %d, and this program %d", g.Version, Version)
	case g.View != view:
		return errors.New("it is of another build, or sees the machine otherwise")
	}
	return nil
}

// Ask sends a call and returns its answer. An error that comes before in was read is an error, and this
// process can do its work itself. After that a failure, or the end of limit, gives the answer that the
// resident process has named for it.
func (p *Process) Ask(c Call, in io.Reader, limit time.Duration) (Answer, error) {
	defer func() { _ = p.conn.Close() }()
	if err := send(p.conn, c); err != nil {
		return Answer{}, fmt.Errorf("ask the resident process: %w", err)
	}
	var otherwise Answer
	if err := receive(p.conn, &otherwise); err != nil {
		return Answer{}, fmt.Errorf("ask the resident process: %w", err)
	}
	done := make(chan Answer, 1)
	go func() {
		a, err := p.finish(in, limit)
		if err != nil {
			a = otherwise
		}
		done <- a
	}()
	over := time.NewTimer(limit) // a standard input may stay open for ever
	defer over.Stop()
	select {
	case a := <-done:
		return a, nil
	case <-over.C:
		return otherwise, nil
	}
}

func (p *Process) finish(in io.Reader, limit time.Duration) (Answer, error) {
	if err := p.conn.SetDeadline(time.Now().Add(limit)); err != nil {
		return Answer{}, err
	}
	var input []byte
	if in != nil {
		var err error
		if input, err = io.ReadAll(io.LimitReader(in, largest)); err != nil {
			return Answer{}, err
		}
	}
	if err := send(p.conn, input); err != nil {
		return Answer{}, err
	}
	var a Answer
	return a, receive(p.conn, &a)
}
