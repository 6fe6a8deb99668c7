package boundary

import (
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sallyport-dev/sallyport/engine"
)

// Pool keeps the boundaries of sessions of one command, so that the next command in the same places looks at
// the changes since then in place of all files. A boundary belongs to one session at a time. The zero value
// is empty. A Pool is safe for concurrent use.
type Pool struct {
	mu   sync.Mutex
	idle []*Boundary // the one that came back last is the last
}

// mostIdle bounds the boundaries that no session has.
const mostIdle = 4

// New returns a kept boundary, or makes one. Its Close gives it back if its options say Once.
func (p *Pool) New(o Options) engine.Boundary {
	p.mu.Lock()
	at := slices.IndexFunc(p.idle, func(b *Boundary) bool { return b.o.equal(o) })
	var b *Boundary
	if at >= 0 {
		b = p.idle[at]
		p.idle = slices.Delete(p.idle, at, at+1)
	}
	p.mu.Unlock()
	if b != nil && b.resume() {
		return &pooled{Boundary: b, pool: p}
	}
	return &pooled{Boundary: New(o), pool: p}
}

// Close ends the boundaries that no session has.
func (p *Pool) Close() {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, b := range idle {
		b.Close()
	}
}

// keep takes a boundary back. It ends the oldest ones beyond the bounds.
func (p *Pool) keep(b *Boundary) {
	p.mu.Lock()
	p.idle = append(p.idle, b)
	var over []*Boundary
	for dirs, i := 0, len(p.idle)-1; i >= 0; i-- {
		n, limit := p.idle[i].watch.Size()
		if dirs += n; dirs > limit || len(p.idle)-i > mostIdle {
			over = slices.Clone(p.idle[:i+1])
			p.idle = slices.Clone(p.idle[i+1:])
			break
		}
	}
	p.mu.Unlock()
	for _, o := range over {
		o.Close()
	}
}

// pooled is the boundary of one session.
type pooled struct {
	*Boundary
	pool *Pool
	over atomic.Bool // it was given back
}

// Close gives the boundary back after the one command, and ends it after others.
func (l *pooled) Close() []string {
	if l.over.Swap(true) {
		return nil
	}
	if l.o.Once && l.rests() {
		l.pool.keep(l.Boundary)
		return nil
	}
	return l.Boundary.Close()
}

// equal compares the parts of the options that a boundary uses.
func (o Options) equal(other Options) bool {
	return o.Store == other.Store && o.Once == other.Once && o.Layout.Home == other.Layout.Home &&
		reflect.DeepEqual(o.Layout.Roots, other.Layout.Roots) && reflect.DeepEqual(o.Layout.Self, other.Layout.Self)
}

// rests reports whether no command runs and the watch sees each change.
func (b *Boundary) rests() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.watch != nil && b.running == 0 && !b.noted.begun() && b.watch.Sees()
}

// resume begins another session. If the watch misses changes, or a killed session has left files to look
// at, it ends the watch and reports false.
func (b *Boundary) resume() bool {
	_, dead := killed(b.o.Store, b.roots)
	fresh := New(b.o) // the roots may lead elsewhere now
	if len(dead) > 0 || !slices.Equal(fresh.roots, b.roots) || !b.rests() {
		b.Close()
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.changed, b.unsure = nil, false
	return true
}
