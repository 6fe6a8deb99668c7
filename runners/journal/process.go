package journal

import (
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
)

// process tells the log how a command goes on and how it ends.
type process struct {
	engine.Process
	env       *environment
	command   engine.Command
	variables string // of the command, for finding the values of secret ones in its output

	once sync.Once
	exit engine.Exit
	mu   sync.Mutex    // held while a line about it is written, so that none comes after its end
	done chan struct{} // closed when its end is told
}

// Wait waits for the end and tells it, once.
func (p *process) Wait() engine.Exit {
	p.once.Do(func() {
		p.exit = p.Process.Wait()
		p.mu.Lock()
		p.tell(p.exit)
		close(p.done)
		p.mu.Unlock()
		p.env.look()
	})
	return p.exit
}

func (p *process) tell(x engine.Exit) {
	var why string
	if x.Error != nil {
		why = p.env.log.o.Redact(x.Error.Error(), p.variables)[0]
	}
	stdout, stderr := p.excerpts(x.Stdout, x.Stderr, excerptSize)
	p.env.log.write(Event{
		Event: KindExit, Decision: p.command.ID, Code: &x.Code, Signal: x.Signal, TimedOut: x.TimedOut,
		Killed:    x.Killed,
		Survivors: x.Survivors, OOMKills: x.OOMKills, Seconds: x.Duration.Seconds(),
		Error:  why,
		Stdout: stdout, Stderr: stderr,
	})
}

// excerpts are the logged parts of two streams.
func (p *process) excerpts(stdout, stderr engine.Stream, size int) (out, errs *Output) {
	if stdout.Bytes == 0 && stderr.Bytes == 0 {
		return nil, nil
	}
	a, b := widen(stdout.Text, size), widen(stderr.Text, size)
	clean := p.env.log.o.Redact(a.head, a.tail, b.head, b.tail, p.command.Text, p.variables)
	return a.output(stdout, clean[0], clean[1], size), b.output(stderr, clean[2], clean[3], size)
}

// Times at which a command that goes on is looked at: a short one is told once, by its end, and one that
// takes an hour some sixty times.
const (
	firstLook = time.Second
	longest   = time.Minute
)

// follow tells of the output of a command that takes long, while it comes.
func (p *process) follow() {
	seen := int64(0)
	for wait := firstLook; ; wait = min(2*wait, longest) {
		timer := time.NewTimer(wait)
		select {
		case <-p.done:
			timer.Stop()
			return
		case <-timer.C:
		}
		stdout, stderr := p.Output()
		now := stdout.Bytes + stderr.Bytes
		if now == seen {
			continue
		}
		seen = now
		p.glimpse(p.excerpts(stdout, stderr, glimpseSize))
	}
}

// glimpse tells of the output so far, unless the end has told more.
func (p *process) glimpse(stdout, stderr *Output) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
	default:
		p.env.log.write(Event{Event: KindOutput, Decision: p.command.ID, Stdout: stdout, Stderr: stderr})
	}
}
