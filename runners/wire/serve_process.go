package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
)

// process runs one command for its stream. When the stream ends before the command, the command is
// killed: nobody would ever hear of it.
func (s *server) process(st net.Conn, number uint64) {
	defer s.discard(number)
	var first order
	_ = st.SetReadDeadline(time.Now().Add(answerTime))
	if err := readFrame(st, &first); err != nil || first.Start == nil {
		return
	}
	_ = st.SetReadDeadline(time.Time{})
	r := &reporter{to: st}
	c := first.Start.command()
	live, err := s.live(number, first.Start, &c)
	defer func() {
		for _, out := range live {
			_ = out.Close()
		}
	}()
	if err != nil {
		_ = r.send(report{Error: failureOf(err)})
		return
	}
	questions := newQuestions(r, s.env.FS())
	defer questions.end()
	if first.Start.Ask {
		c.MayMake = questions.ask
	}
	if first.Start.Starts {
		c.MayStart = questions.start
	}
	p, err := s.env.Start(context.Background(), c)
	if err != nil {
		_ = r.send(report{Error: failureOf(err)})
		return
	}
	_ = r.send(report{Started: &started{p.PID()}})
	close(questions.begun)
	ended := make(chan struct{})
	go func() {
		for {
			var o order
			if readFrame(st, &o) != nil || o.Start != nil {
				questions.end()
				p.Kill("the connection to sallyport ended")
				return
			}
			var err error
			switch {
			case o.Kill != nil:
				p.Kill(string(*o.Kill))
			case o.Signal != "":
				err = p.Signal(o.Signal)
			case o.Resize != nil:
				err = p.Resize(engine.WindowSize(*o.Resize))
			case o.Answer != nil:
				questions.answer(*o.Answer)
			case o.Forget:
				questions.forget()
			case o.Show:
				r.show(p, ended)
			}
			if err != nil {
				p.Kill(err.Error())
			}
		}
	}()
	e := p.Wait()
	for _, out := range live {
		_ = out.Close() // all of it is sent before the exit
	}
	close(ended)
	x := exitOf(e)
	x.Repeats = questions.counted()
	_ = r.send(report{Exit: x}, e.Stdout.Text, e.Stderr.Text)
}

// discard closes the streams of a process that did not take them.
func (s *server) discard(number uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for descriptor := range 3 {
		o := pipe{number, descriptor}
		select {
		case st := <-s.pipes[o]:
			_ = st.Close()
		default:
		}
		delete(s.pipes, o)
	}
}

// live takes the streams on which output goes out as it comes, and the one from which input comes.
func (s *server) live(number uint64, o *start, c *engine.Command) ([]io.Closer, error) {
	var all []io.Closer
	for _, want := range []struct {
		asked  bool
		number int
		use    func(net.Conn)
	}{
		{o.Stdin, 0, func(st net.Conn) { c.Stdin = st }},
		{o.SeeStdout, 1, func(st net.Conn) { c.Stdout = st }},
		{o.SeeStderr, 2, func(st net.Conn) { c.Stderr = st }},
	} {
		if !want.asked {
			continue
		}
		st, err := s.take(pipe{number, want.number})
		if err != nil {
			return all, err
		}
		all = append(all, st)
		want.use(st)
	}
	return all, nil
}

// reporter writes reports one after the other.
type reporter struct {
	mu   sync.Mutex
	to   io.Writer
	over bool // the exit was sent, or sending failed
}

// show sends the output that is kept so far. After the end nothing is sent: the exit has it all.
func (r *reporter) show(p engine.Process, ended <-chan struct{}) {
	select {
	case <-ended:
		return
	default:
	}
	stdout, stderr := p.Output()
	_ = r.send(report{Kept: &kept{streamOf(stdout), streamOf(stderr)}}, stdout.Text, stderr.Text)
}

// send writes a report and the texts that belong to it. An error needs no report: the stream ends after it,
// and that ends the command. A frame that is too large was not sent, and nothing ends.
func (r *reporter) send(m report, texts ...string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return nil
	}
	body, err := encode(m)
	if errors.Is(err, errTooLarge) && m.Ask != nil {
		return err
	}
	if err == nil {
		all := appendFrame(nil, body)
		for _, text := range texts {
			all = appendChunks(all, text)
		}
		_, err = r.to.Write(all) // in one piece, since each wakes the other side
	}
	r.over = err != nil || m.Exit != nil
	return err
}
