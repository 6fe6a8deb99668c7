package mounts

import (
	"fmt"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Lookout looks for repositories that come up in the writable places while commands run. Commands wrote all that is
// in them, their hooks too, and nothing guards these before the next session. Nil is one that never looks.
type Lookout struct {
	roots []facts.Root
	home  string
	pause time.Duration // before a look
	busy  func() bool
	tell  func(repository, words string)

	looking sync.Mutex // one look at a time
	before  Protection

	mu   sync.Mutex
	next *time.Timer // nil: no look is due
	over bool
}

const (
	// lookAgain is how long the first look may have taken for there to be others.
	lookAgain = 2 * time.Second
	// lookPause is how long after its start a command is looked after; share is the part of the time that may go into it.
	lookPause, share = 3 * time.Second, 50
)

// LookOut begins with the result of Protect and its duration, for the same roots; busy reports whether
// commands run. It returns nil if repeated searches would be a burden.
func LookOut(roots []facts.Root, home string, found Protection, took time.Duration, busy func() bool, tell func(repository, words string)) *Lookout {
	if took > lookAgain {
		return nil
	}
	return &Lookout{roots: roots, home: home, pause: max(lookPause, share*took), busy: busy, tell: tell, before: found}
}

// Ran says that a command was started. A look follows, and others as long as commands run.
func (l *Lookout) Ran() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next == nil && !l.over {
		l.next = time.AfterFunc(l.pause, l.due)
	}
}

func (l *Lookout) due() {
	l.mu.Lock()
	l.next = nil // commands that start from here on may write unnoticed
	l.mu.Unlock()
	if l.busy() {
		l.Ran()
	}
	l.look(false)
}

// look reports repositories that were not there the last time. Nothing is reported after the last look.
func (l *Lookout) look(last bool) {
	l.looking.Lock()
	defer l.looking.Unlock()
	if !last && l.closed() {
		return
	}
	after, err := Protect(l.roots, l.home, nil)
	if err != nil {
		return // it is told when the next session cannot be guarded
	}
	for _, r := range Appeared(l.before, after) {
		l.tell(r, fmt.Sprintf("commands made %s: look at its hooks and configuration before you use git there", r))
	}
	l.before = after
}

func (l *Lookout) closed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

// Close looks a last time.
func (l *Lookout) Close() {
	if l == nil || l.closed() {
		return
	}
	l.mu.Lock()
	l.over = true
	if l.next != nil {
		l.next.Stop()
	}
	l.mu.Unlock()
	l.look(true)
}
