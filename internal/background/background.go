// Package background keeps the shells that run in the background of one server: it numbers them, limits
// how many run at once, keeps the end of their output within bounds and tells truthfully how they ended.
//
// It starts nothing itself: each shell is a request that passes the gate like any other, with the same
// policies, runner, environment and records. It judges nothing and shows nothing to anybody: that is
// for the tools of the server, which is also why the limit here is an error and not a denial.
//
// Memory is bounded: per stream by lines and bytes, in all by the number of running shells, and by a limit
// for ended ones, of which the oldest are forgotten first.
package background

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
)

// Starter judges a request and starts it; *engine.Gate is one.
type Starter interface {
	Start(ctx context.Context, r engine.Request) (*engine.Job, error)
}

// Options configure a Manager. Gate and Limit are required to run anything.
type Options struct {
	Gate  Starter
	Limit int // shells that may run at once

	Lines int // kept per stream; default 10,000
	Bytes int // kept per stream; default 1 MiB

	// Of shells that ended, this is kept.
	Keep      time.Duration // how long; default 1 h
	KeepCount int           // how many; default 100
	KeepBytes int           // output of all of them; default 32 MiB

	// Now stands in for the clock in tests.
	Now func() time.Time
}

// Manager keeps the background shells of one server. It is safe for concurrent use.
type Manager struct {
	o       Options
	closing context.Context // ends when Close is called
	close   context.CancelFunc

	mu       sync.Mutex
	closed   bool
	starting int                // slots that are taken and have no shell yet
	starts   sync.WaitGroup     // calls of Start under way
	shells   map[string]*record // running, and ended but not forgotten
	last     int                // number of the last shell
}

// record is a shell of the Manager. The Manager's lock guards the fields that change.
type record struct {
	number         int // in the order of the starts
	stdout, stderr *ring
	done           chan struct{} // closed when it has ended and shell says how

	job     *engine.Job // nil once it has ended, since it holds output of its own
	shell   Shell
	endedAt time.Time
	bytes   int // output kept, once it has ended
}

// New makes a Manager. It starts nothing.
func New(o Options) *Manager {
	o.Lines = cmp.Or(max(o.Lines, 0), 10_000)
	o.Bytes = cmp.Or(max(o.Bytes, 0), 1<<20)
	o.Keep = cmp.Or(max(o.Keep, 0), time.Hour)
	o.KeepCount = cmp.Or(max(o.KeepCount, 0), 100)
	o.KeepBytes = cmp.Or(max(o.KeepBytes, 0), 32<<20)
	if o.Now == nil {
		o.Now = time.Now
	}
	m := &Manager{o: o, shells: map[string]*record{}}
	m.closing, m.close = context.WithCancel(context.Background())
	return m
}

// errClosed is why a closed Manager starts nothing.
var errClosed = errors.New("start background shell: the server is closing")

// Start puts a request through the gate and keeps its process. The writers of r are not used.
//
// If nothing was started the Shell has no ID, and the Outcome has the reason: a refusal, a fault, or a
// command that could not be started (Outcome.Exit.Error). The error is a *LimitError, or that of the gate.
func (m *Manager) Start(ctx context.Context, r engine.Request) (Shell, engine.Outcome, error) {
	if err := m.reserve(); err != nil {
		return Shell{}, engine.Outcome{}, err
	}
	defer m.starts.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(m.closing, cancel)() // nobody is asked any more

	rec := &record{done: make(chan struct{}), stdout: m.newRing(), stderr: m.newRing()}
	r.Background, r.Stdout, r.Stderr = true, rec.stdout, rec.stderr
	job, err := m.o.Gate.Start(ctx, r)
	if err != nil || job.PID() == 0 {
		m.release()
		if err != nil {
			return Shell{}, engine.Outcome{}, fmt.Errorf("start background shell: %w", err)
		}
		return Shell{}, job.Wait(), nil
	}
	out := job.Outcome()
	rec.job = job
	rec.shell = Shell{
		State: Running, PID: job.PID(), Command: r.Command, WorkDir: out.WorkDir, Decision: out.Decision,
		// Not before the judging: the duration so far must never be more than the one at the end.
		Started: m.o.Now(),
	}
	s := m.enter(rec)
	go m.follow(rec, job)
	return s, out, nil
}

func (m *Manager) newRing() *ring { return &ring{maxLines: m.o.Lines, maxBytes: m.o.Bytes} }

// reserve takes a slot before the gate is asked, so that two requests cannot both take the last one.
func (m *Manager) reserve() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return errClosed
	}
	var running []string
	for _, rec := range m.ordered() {
		if !rec.shell.Ended() {
			running = append(running, rec.shell.ID)
		}
	}
	if len(running)+m.starting >= m.o.Limit {
		return &LimitError{Limit: m.o.Limit, Running: running, Starting: m.starting}
	}
	m.starting++
	m.starts.Add(1)
	return nil
}

// release gives back the slot of a request that started nothing.
func (m *Manager) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.starting--
}

// enter turns a slot into a shell with an id.
func (m *Manager) enter(rec *record) Shell {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.starting--
	m.last++
	rec.number = m.last
	for rec.shell.ID == "" || m.shells[rec.shell.ID] != nil {
		rec.shell.ID = newID()
	}
	m.shells[rec.shell.ID] = rec
	return m.now(rec)
}

// newID returns an id in the form that agents know from the predecessor.
func newID() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // it never fails (crypto/rand)
	return "shell_" + hex.EncodeToString(b[:])
}
