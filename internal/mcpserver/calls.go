package mcpserver

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Bounds of the calls that one client may have under way. Their messages are held in memory meanwhile.
const (
	waitingMost  = 1000      // calls that wait for their turn
	messageBytes = 256 << 20 // of all messages under way
)

// calls are the requests of one client that are under way or wait for their turn. A call that is cancelled
// while it waits is dropped: it never runs.
type calls struct {
	most     int
	crew     *crew
	finished chan struct{} // one element when a call has finished since it was last looked at

	mu        sync.Mutex
	closed    bool // no more calls are taken up
	running   int
	bytes     int // of the messages of all
	waiting   []*pending
	all       map[string]*pending
	emptied   chan struct{} // closed when the last call has finished; nil while nobody waits for it
	listeners int
}

// pending is one request.
type pending struct {
	id        string
	cancel    context.CancelFunc
	run       func(*pending)
	abandon   func(*pending) // instead of run, when its turn will never come
	listening bool
	size      int // of its message

	mu      sync.Mutex
	dropped bool // the client does not want an answer
}

// withdrawn reports whether the client has cancelled the request: then there must be no reply.
func (c *pending) withdrawn() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dropped
}

func newCalls(most int, c *crew) *calls {
	return &calls{most: most, crew: c, finished: make(chan struct{}, 1), all: map[string]*pending{}}
}

// add takes up a call, or says why not.
func (q *calls) add(c *pending) (why string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return "the server is ending"
	case q.all[c.id] != nil:
		return "Invalid request: the id belongs to a request that is still under way"
	case len(q.waiting) >= waitingMost, len(q.all) > 0 && q.bytes+c.size > messageBytes:
		return "too much is under way: send less at once"
	}
	q.all[c.id] = c
	q.bytes += c.size
	if c.listening {
		q.listeners++
		q.crew.run(func() { q.serve(c) })
		return ""
	}
	q.waiting = append(q.waiting, c)
	q.next()
	return ""
}

// next starts calls that wait, in their order. The caller holds mu.
func (q *calls) next() {
	for q.running < q.most && len(q.waiting) > 0 {
		c := q.waiting[0]
		q.waiting = q.waiting[1:]
		q.running++
		q.crew.run(func() { q.serve(c) })
	}
}

// serve runs a call and takes it off the books.
func (q *calls) serve(c *pending) {
	defer c.cancel()
	c.run(c)
	q.mu.Lock()
	defer q.mu.Unlock()
	if c.listening {
		q.listeners--
	} else {
		q.running--
	}
	q.forget(c)
	q.next()
}

// forget takes a call off the books. The caller holds mu.
func (q *calls) forget(c *pending) {
	delete(q.all, c.id)
	q.bytes -= c.size
	select {
	case q.finished <- struct{}{}:
	default:
	}
	if len(q.all) == 0 && q.emptied != nil {
		close(q.emptied)
		q.emptied = nil
	}
}

// cancel ends the call with an id on the client's behalf: it gets no reply, and if it waits it never runs.
func (q *calls) cancel(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.all[id]
	if c == nil {
		return // it has finished already: the two messages crossed
	}
	c.mu.Lock()
	c.dropped = true
	c.mu.Unlock()
	c.cancel()
	if i := slices.Index(q.waiting, c); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		q.forget(c)
	}
}

// endListening ends the requests that only listen: nothing comes any more.
func (q *calls) endListening() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, c := range q.all {
		if c.listening {
			c.cancel()
		}
	}
}

// endAll ends running calls, abandons waiting ones, and accepts no more. All of them are answered.
func (q *calls) endAll() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, c := range q.all {
		c.cancel()
	}
	for _, c := range q.waiting {
		c.run = c.abandon
		q.running++
		q.crew.run(func() { q.serve(c) })
	}
	q.waiting = nil
}

// empty returns a channel that is closed when no call is left.
func (q *calls) empty() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.all) == 0 {
		done := make(chan struct{})
		close(done)
		return done
	}
	if q.emptied == nil {
		q.emptied = make(chan struct{})
	}
	return q.emptied
}

// crew runs functions on goroutines that stay for a while: their stacks have grown, which is a tenth of a
// check.
type crew struct {
	work chan func()
	over chan struct{} // closed when none stays any more
	once sync.Once
}

func newCrew() *crew { return &crew{work: make(chan func()), over: make(chan struct{})} }

// dismiss has none stay any more.
func (c *crew) dismiss() { c.once.Do(func() { close(c.over) }) }

// restTime is how long a goroutine waits for more work.
const restTime = 5 * time.Second

func (c *crew) run(f func()) {
	select {
	case c.work <- f:
	default:
		go c.stay(f)
	}
}

func (c *crew) stay(f func()) {
	rest := time.NewTimer(restTime)
	defer rest.Stop()
	for {
		f()
		rest.Reset(restTime)
		select {
		case f = <-c.work:
		case <-c.over:
			return
		case <-rest.C:
			return
		}
	}
}
