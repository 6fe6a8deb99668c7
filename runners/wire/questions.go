package wire

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/sallyport-dev/sallyport/engine"
)

// questions are those that a command waits for an answer to, where it runs.
type questions struct {
	to    *reporter
	begun chan struct{} // closed when the start of the command is reported: questions come after it

	names  atomic.Uint64 // questions about names
	starts chan struct{} // questions about programs that wait for an answer

	order   sync.Mutex // held while a question gets its number and is sent
	mu      sync.Mutex
	last    uint64
	waiting map[uint64]chan bool
	once    sync.Once
	over    chan struct{} // closed when no answer will come
}

func newQuestions(to *reporter) *questions {
	return &questions{
		to: to, waiting: map[uint64]chan bool{}, begun: make(chan struct{}), over: make(chan struct{}),
		starts: make(chan struct{}, maxStarts),
	}
}

// ask asks whether the command may make a name. Only so many questions are sent.
func (q *questions) ask(path string) bool {
	if q.names.Add(1) > maxQuestions {
		return false
	}
	return q.put(question{Path: exact(path)})
}

// start asks whether a program may start. Only so many wait at once.
func (q *questions) start(p engine.Program) bool {
	select {
	case q.starts <- struct{}{}:
		defer func() { <-q.starts }()
	case <-q.over:
		return false
	}
	return q.put(question{Program: programOf(p)})
}

// put asks a question. Without an answer it is answered with no.
func (q *questions) put(v question) bool {
	select {
	case <-q.begun:
	case <-q.over:
		return false
	}
	answer := make(chan bool, 1)
	if !q.send(v, answer) {
		return false
	}
	select {
	case may := <-answer:
		return may
	case <-q.over:
		return false
	}
}

// send sends a question with the next number. One that is too large for a frame is not sent.
func (q *questions) send(v question, answer chan bool) bool {
	q.order.Lock()
	defer q.order.Unlock()
	v.Number = q.last + 1
	q.mu.Lock()
	q.waiting[v.Number] = answer
	q.mu.Unlock()
	if errors.Is(q.to.send(report{Ask: &v}), errTooLarge) {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.waiting, v.Number)
		return false
	}
	q.last++
	return true
}

func (q *questions) answer(v verdict) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if answer := q.waiting[v.Number]; answer != nil {
		answer <- v.Yes
		delete(q.waiting, v.Number)
	}
}

func (q *questions) end() { q.once.Do(func() { close(q.over) }) }
