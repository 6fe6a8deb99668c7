package resident

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/await"
)

// runs accepts a live call, writes to both of its outputs and answers with the first signal.
func runs(_ context.Context, c Call) Answer {
	if err := c.Live.Accept(); err != nil {
		return Answer{}
	}
	_, _ = io.WriteString(c.Live.Out, "out")
	_, _ = io.WriteString(c.Live.Err, "err")
	return Answer{Status: int((<-c.Live.Signals).(syscall.Signal))}
}

// run makes a live call with a signal and returns its outputs.
func (p *process) run(t *testing.T, came ...os.Signal) (out, errs string, a Answer, err error) {
	t.Helper()
	found, err := Find(p.Dir, p.View, p.Program, await.Guard)
	if err != nil {
		return "", "", Answer{}, err
	}
	var ends [2]*os.File
	var files [2]*os.File
	for i := range files {
		if ends[i], files[i], err = os.Pipe(); err != nil {
			t.Fatal(err)
		}
	}
	signals := make(chan os.Signal, len(came))
	a, err = found.Run(Call{Args: []string{"exec"}}, files[0], files[1], func() <-chan os.Signal {
		for _, s := range came {
			signals <- s
		}
		return signals
	})
	var texts [2]string
	for i := range files {
		_ = files[i].Close()
		text, failed := io.ReadAll(ends[i])
		if failed != nil {
			t.Error(failed)
		}
		texts[i] = string(text)
	}
	return texts[0], texts[1], a, err
}

// TestLive: the outputs of a command are those of its program, and signals of the program come to it.
func TestLive(t *testing.T) {
	t.Parallel()
	p := start(t, func(o *Options) { o.Answer = runs })
	out, errs, a, err := p.run(t, syscall.SIGTERM)
	if err != nil || out != "out" || errs != "err" || a.Status != int(syscall.SIGTERM) {
		t.Errorf("%q %q %+v, %v", out, errs, a, err)
	}
}

// TestLiveDeclined: a call that is not accepted has no effect, and is the program's.
func TestLiveDeclined(t *testing.T) {
	t.Parallel()
	p := start(t, func(o *Options) {
		o.Answer = func(context.Context, Call) Answer { return Answer{Status: 1} }
	})
	if out, errs, _, err := p.run(t); !errors.Is(err, ErrDeclined) || out+errs != "" {
		t.Errorf("%q %q, %v", out, errs, err)
	}
}

// TestLiveBroken: a call that ends after it was accepted is not begun a second time.
func TestLiveBroken(t *testing.T) {
	t.Parallel()
	p := start(t, func(o *Options) {
		o.Answer = func(_ context.Context, c Call) Answer {
			if err := c.Live.Accept(); err != nil {
				return Answer{}
			}
			panic("a fault")
		}
	})
	if _, _, a, err := p.run(t); err != nil || a.Status != otherwise.Status {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestLiveGone: the end of a program is a signal; a program that does not wait has no command, and one
// without outputs neither.
func TestLiveGone(t *testing.T) {
	t.Parallel()
	began, ends := make(chan error, 1), make(chan os.Signal, 1)
	p := start(t, func(o *Options) {
		o.Answer = func(_ context.Context, c Call) Answer {
			err := c.Live.Accept()
			began <- err
			if err == nil {
				ends <- <-c.Live.Signals
			}
			return Answer{}
		}
	})
	connect := func() *Process {
		found, err := Find(p.Dir, p.View, p.Program, await.Guard)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	call := Call{Live: &Live{}}
	var a Answer
	bare := connect()
	if err := send(bare.conn, call); err != nil {
		t.Fatal(err)
	}
	if err := receive(bare.conn, &a); err == nil {
		t.Errorf("a call without outputs is answered: %+v", a)
	}
	for _, waits := range []bool{false, true} {
		found := connect()
		if err := sendWith(found.conn, call, os.Stdout, os.Stderr); err != nil {
			t.Fatal(err)
		}
		if err := receive(found.conn, &a); err != nil || a.Declined {
			t.Fatalf("%+v, %v", a, err)
		}
		if waits {
			if err := send(found.conn, []byte{}); err != nil {
				t.Fatal(err)
			}
			if err := await.Receive(t, "begin", began); err != nil {
				t.Error(err)
			}
		}
		_ = found.conn.Close()
		if waits {
			if s := await.Receive(t, "end", ends); s != os.Signal(Gone) {
				t.Errorf("it ends by %v", s)
			}
		} else if err := await.Receive(t, "begin", began); err == nil {
			t.Error("a call begins whose program does not wait")
		}
	}
}

// TestLiveGivesRoomBack: the room of a large live call is free after its end, although the process reads its
// connection until the connection is closed.
func TestLiveGivesRoomBack(t *testing.T) {
	t.Parallel()
	p := start(t, func(o *Options) {
		o.room = 4 * freeEach
		o.Answer = func(_ context.Context, c Call) Answer {
			if c.Live != nil && c.Live.Accept() != nil {
				return Answer{}
			}
			return Answer{Status: 3}
		}
	})
	call := Call{Args: []string{"exec", strings.Repeat("x", 3*freeEach)}, Live: &Live{}}
	for i := range 4 {
		found, err := Find(p.Dir, p.View, p.Program, await.Guard)
		if err != nil {
			t.Fatal(err)
		}
		var before, a Answer
		err = errors.Join(
			sendWith(found.conn, call, os.Stdout, os.Stderr), receive(found.conn, &before),
			send(found.conn, []byte{}), receive(found.conn, &a))
		if err != nil || a.Status != 3 {
			t.Fatalf("call %d: %+v, %v", i, a, err)
		}
		if _, err := io.Copy(io.Discard, found.conn); err != nil { // the process closes it first
			t.Fatal(err)
		}
		_ = found.conn.Close()
	}
}
