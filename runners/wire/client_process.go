package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
)

// process is a command that runs elsewhere.
type process struct {
	e       *Environment
	st      net.Conn
	command engine.Command
	pid     int
	started time.Time
	live    []<-chan struct{} // each output that is seen as it comes, closed at its end
	input   net.Conn          // its input; nil for none
	asked   uint64            // questions, and those about names; of the goroutine that reads reports
	names   uint64
	starts  atomic.Int64 // questions about programs without an answer yet
	holding holding

	mu     sync.Mutex
	reason string      // the first given to Kill
	late   *time.Timer // until the supervisor must have told the end
	over   bool        // it has, or cannot any more

	ordering sync.Mutex // held while an order is written

	showing sync.Mutex // held while Output waits for an answer
	shown   chan [2]engine.Stream
	last    [2]engine.Stream // that was shown last: all that is known when the connection breaks
	done    chan struct{}
	exit    engine.Exit // set before done is closed
}

// Start begins c. An error after it was sent says that it may have run; it is never sent again.
func (e *Environment) Start(ctx context.Context, c engine.Command) (engine.Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("start command: %w", err)
	}
	p := &process{e: e, command: c, shown: make(chan [2]engine.Stream, 1), done: make(chan struct{}),
		started: time.Now()}
	if err := e.enter(); err != nil {
		return nil, fmt.Errorf("start command: %w", err)
	}
	defer e.starting.Done()
	if err := p.begin(); err != nil {
		return nil, err
	}
	e.mu.Lock()
	e.live[p] = struct{}{}
	e.mu.Unlock()
	stop := context.AfterFunc(ctx, func() { p.Kill(ctx.Err().Error()) })
	go func() {
		p.attend()
		stop()
		e.leave(p)
		close(p.done)
	}()
	return p, nil
}

// enter registers a start, so that Close cannot overlook the process that comes of it.
func (e *Environment) enter() error {
	e.mu.Lock()
	closed, broken := e.closed, e.err != nil
	if !closed && !broken {
		e.starting.Add(1)
	}
	e.mu.Unlock()
	switch {
	case closed:
		return errClosed
	case broken:
		return e.Err()
	}
	return nil
}

func (e *Environment) leave(p *process) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.live, p)
}

// begin opens the streams of a process and has it started.
func (p *process) begin() error {
	number := p.e.numbers.Add(1)
	order := order{Start: startOf(p.command)}
	st, err := p.e.open()
	if err != nil {
		return fmt.Errorf("start command: %w", err)
	}
	p.st = st
	var outputs []net.Conn
	for _, out := range []struct {
		to     io.Writer
		stderr bool
	}{{p.command.Stdout, false}, {p.command.Stderr, true}} {
		if out.to == nil {
			continue
		}
		st, err := p.e.begin(opening{For: forOutput, Process: number, Stderr: out.stderr})
		if err != nil {
			return fmt.Errorf("start command: %w", err)
		}
		outputs = append(outputs, st)
		p.live = append(p.live, pass(st, out.to))
	}
	if p.command.Stdin != nil {
		if p.input, err = p.e.begin(opening{For: forInput, Process: number}); err != nil {
			return fmt.Errorf("start command: %w", err)
		}
	}
	err = writeFrame(st, opening{For: forProcess, Process: number}, order)
	if errors.Is(err, errTooLarge) { // and nothing was sent
		for _, st := range append(outputs, st) {
			_ = st.Close()
		}
		p.closeInput()
		return fmt.Errorf("start command: %w", err)
	}
	if err != nil {
		return p.lost(err)
	}
	var r report
	_ = st.SetReadDeadline(time.Now().Add(answerTime))
	if err := readFrame(st, &r); err != nil {
		return p.lost(err)
	}
	_ = st.SetReadDeadline(time.Time{})
	switch {
	case r.Error != nil:
		_ = st.Close()
		p.closeInput()
		return r.Error.err()
	case r.Started == nil || r.Started.PID <= 0 || r.Started.PID > 1<<31-1:
		return p.lost(violation("no process id"))
	}
	p.pid = r.Started.PID
	p.late = time.AfterFunc(p.command.Timeout+p.command.Grace+p.margin(), p.overdue)
	if p.input != nil {
		go p.feed()
	}
	return nil
}

// feed passes on the command's input, up to its end. A failed send means that no reader is left.
func (p *process) feed() {
	_, _ = io.Copy(onlyWriter{p.input}, p.command.Stdin)
	p.closeInput()
}

func (p *process) closeInput() {
	if p.input != nil {
		_ = p.input.Close()
	}
}

// lost is the error of a start without an answer.
func (p *process) lost(err error) error {
	return fmt.Errorf("start command: it may have run, and was ended with the connection: %w",
		p.e.broke(fmt.Errorf("start: %w", broken(err))))
}

// overdue breaks the connection to a supervisor that does not tell how a command ended. That ends the
// command, if anything there still keeps to the rules.
func (p *process) overdue() {
	const late = "no end of a command was told within %s of its time limit: %w"
	_ = p.e.broke(fmt.Errorf(late, p.margin(), ErrSilent))
}

// margin is the time for the report of the end. Files of an elevated command are given to its user before it.
func (p *process) margin() time.Duration {
	if p.e.o.EndMargin == 0 || p.command.Elevated {
		return endMargin
	}
	return p.e.o.EndMargin
}

// pass copies an output stream to a writer until its end. A writer that fails does not hold up the command.
func pass(st net.Conn, to io.Writer) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := io.Copy(onlyWriter{to}, st); err != nil {
			_, _ = io.Copy(io.Discard, st) // the connection reports its own error
		}
		_ = st.Close()
	}()
	return done
}

// onlyWriter hides a writer's other methods, so that all output passes Write in pieces.
type onlyWriter struct{ io.Writer }

// PID returns the process id of the shell, where it runs.
func (p *process) PID() int { return p.pid }

// Wait blocks until the command and all that it started are gone, or cannot be heard of any more.
func (p *process) Wait() engine.Exit {
	<-p.done
	return p.exit
}

// Kill has the whole tree ended. The first reason counts.
func (p *process) Kill(reason string) {
	if reason == "" {
		reason = "killed"
	}
	p.mu.Lock()
	first := p.reason == "" && !p.over
	if first {
		p.reason = reason
		p.late.Reset(p.command.Grace + p.margin())
	}
	p.mu.Unlock()
	if !first {
		return
	}
	go func() { // it returns at once, also when the stream is held up
		why := exact(words(reason))
		p.order(order{Kill: &why})
	}()
}

// Signal sends a signal to the process group of the command. It may wait for the connection.
func (p *process) Signal(s engine.Signal) error {
	if err := s.Check(); err != nil {
		return err
	}
	p.order(order{Signal: s})
	return nil
}

// Resize changes the size of the command's terminal. It may wait for the connection.
func (p *process) Resize(s engine.WindowSize) error {
	if p.command.Terminal == nil {
		return errors.New("change the size of a terminal: the command has none")
	}
	if err := s.Check(); err != nil {
		return fmt.Errorf("change the size of a terminal: %w", err)
	}
	p.order(order{Resize: (*size)(&s)})
	return nil
}

// order sends an order. If that fails the connection is gone, or the process is.
func (p *process) order(o order) {
	p.ordering.Lock()
	defer p.ordering.Unlock()
	_ = writeFrame(p.st, o)
}

// Output returns the output of both streams that is kept so far; nothing without an answer from the other
// side.
func (p *process) Output() (stdout, stderr engine.Stream) {
	p.showing.Lock()
	defer p.showing.Unlock()
	select {
	case <-p.done:
		return p.exit.Stdout, p.exit.Stderr
	default:
	}
	p.order(order{Show: true})
	select {
	case s := <-p.shown:
		return s[0], s[1]
	case <-p.done:
		return p.exit.Stdout, p.exit.Stderr
	}
}

// attend reads reports until the exit, or until the connection breaks.
func (p *process) attend() {
	exit, err := p.reports()
	p.mu.Lock()
	p.over = true
	p.late.Stop()
	reason := p.reason
	p.mu.Unlock()
	if err != nil {
		err = p.e.broke(err)
		exit = engine.Exit{Code: -1, Stdout: p.last[0], Stderr: p.last[1],
			Error: fmt.Errorf(
				"wait for command: how it ended is not known, it was ended with the connection at the latest: %w", err)}
	}
	if exit.Killed != "" && reason != "" || err != nil && reason != "" {
		exit.Killed = reason // in the words that were used here
	}
	exit.Started = p.started
	elapsed := time.Since(p.started)
	if err != nil || exit.Duration > elapsed {
		exit.Duration = elapsed
	}
	_ = p.st.Close()
	p.closeInput()
	timeout := time.NewTimer(drainTime)
	defer timeout.Stop()
	for _, out := range p.live {
		select {
		case <-out:
		case <-timeout.C:
			timeout.Reset(0)
			if exit.Error == nil {
				exit.Error = fmt.Errorf("pass on output: a writer held it up for longer than %s: the end may be missing",
					drainTime)
			}
		}
	}
	if p.e.o.Ended != nil {
		p.e.o.Ended(p.command.ID)
	}
	p.exit = exit
}

// reports reads the supervisor's reports, up to the exit.
func (p *process) reports() (engine.Exit, error) {
	for {
		var r report
		if err := readFrame(p.st, &r); err != nil {
			return engine.Exit{}, fmt.Errorf("command: %w", broken(err))
		}
		var k *kept
		switch {
		case r.Ask != nil:
			if err := p.decide(*r.Ask); err != nil {
				return engine.Exit{}, err
			}
			continue
		case r.Exit != nil:
			k = &r.Exit.kept
		case r.Kept != nil:
			k = r.Kept
		default:
			return engine.Exit{}, violation("a report without content")
		}
		stdout, err := p.kept(k.Stdout)
		if err != nil {
			return engine.Exit{}, err
		}
		stderr, err := p.kept(k.Stderr)
		if err != nil {
			return engine.Exit{}, err
		}
		if r.Exit != nil {
			if err := p.repeated(r.Exit.Repeats); err != nil {
				return engine.Exit{}, err
			}
			return r.Exit.checked(stdout, stderr)
		}
		p.last = [2]engine.Stream{stdout, stderr}
		select {
		case p.shown <- p.last:
		default:
			return engine.Exit{}, violation("output that nobody asked for")
		}
	}
}

// decide answers a question. They are numbered from 1.
func (p *process) decide(q question) error {
	p.asked++
	if q.Number != p.asked {
		return violation("question %d after %d", q.Number, p.asked-1)
	}
	var ask func() engine.Verdict
	switch {
	case q.Program != nil:
		e, err := q.program()
		if err != nil {
			return err
		}
		if p.command.MayStart == nil || p.starts.Add(1) > maxStarts {
			return violation("question %d about a program", q.Number)
		}
		ask = func() engine.Verdict {
			defer p.starts.Add(-1)
			return p.command.MayStart(e)
		}
	default:
		if p.names++; p.command.MayMake == nil || p.names > maxQuestions {
			return violation("question %d about a name", q.Number)
		}
		ask = func() engine.Verdict { return engine.Verdict{May: p.command.MayMake(string(q.Path))} }
	}
	go func() { p.tell(q.Number, ask()) }()
	return nil
}

// holding are the answers about programs that hold for equal questions.
type holding struct {
	mu     sync.Mutex
	counts map[uint64]func(times int) // by the number of the question
	over   <-chan struct{}            // that is waited for
}

// tell sends an answer. The order to forget follows an answer that holds for equal questions, when it is
// over.
func (p *process) tell(number uint64, v engine.Verdict) {
	p.ordering.Lock()
	defer p.ordering.Unlock()
	answer := &verdict{Number: number, Yes: v.May, Again: v.May && v.Again != nil && v.Over != nil}
	select {
	case <-v.Over:
		answer.Again = false
	default:
	}
	h := &p.holding
	h.mu.Lock()
	defer h.mu.Unlock()
	if answer.Again = answer.Again && len(h.counts) < maxRepeats; answer.Again {
		if h.counts == nil {
			h.counts = map[uint64]func(int){}
		}
		h.counts[number] = v.Again
		if h.over != v.Over {
			h.over = v.Over
			go p.forget(v.Over)
		}
	}
	_ = writeFrame(p.st, order{Answer: answer})
}

// forget sends the order to forget once answers are over.
func (p *process) forget(over <-chan struct{}) {
	select {
	case <-over:
		p.order(order{Forget: true})
	case <-p.done:
	}
}

// repeated counts the programs that started without a question.
func (p *process) repeated(all []repeat) error {
	h := &p.holding
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range all {
		count := h.counts[r.Number]
		if count == nil || r.Times <= 0 {
			return violation("%d repeats of question %d", r.Times, r.Number)
		}
		delete(h.counts, r.Number)
		count(r.Times)
	}
	return nil
}

// kept reads the text of a stream and checks its description.
func (p *process) kept(s stream) (engine.Stream, error) {
	// Each byte that is no UTF-8 becomes three, and a line says how much was left out.
	most := 3*int64(p.command.Output) + 256
	_ = p.st.SetReadDeadline(time.Now().Add(answerTime))
	defer func() { _ = p.st.SetReadDeadline(time.Time{}) }()
	text, err := io.ReadAll(io.LimitReader(&patient{p.st, chunks{r: p.st}}, most+1))
	switch {
	case err != nil:
		return engine.Stream{}, fmt.Errorf("output: %w", err)
	case int64(len(text)) > most:
		return engine.Stream{}, violation("%d bytes of output were kept of %d", len(text), p.command.Output)
	}
	return s.checked(text)
}

// patient gives the other side new time for each piece.
type patient struct {
	st net.Conn
	chunks
}

func (r *patient) Read(b []byte) (int, error) {
	n, err := r.chunks.Read(b)
	_ = r.st.SetReadDeadline(time.Now().Add(answerTime))
	return n, err
}
