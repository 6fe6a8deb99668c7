package wire

import "sync"

// questions are those that a command waits for an answer to, where it runs.
type questions struct {
	to    *reporter
	begun chan struct{} // closed when the start of the command is reported: questions come after it

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
	}
}

// ask asks whether the command may make a name. Without an answer it may not.
func (q *questions) ask(path string) bool {
	select {
	case <-q.begun:
	case <-q.over:
		return false
	}
	answer := make(chan bool, 1)
	if !q.send(path, answer) {
		return false
	}
	select {
	case may := <-answer:
		return may
	case <-q.over:
		return false
	}
}

// send sends a question with the next number. Only so many are sent.
func (q *questions) send(path string, answer chan bool) bool {
	q.order.Lock()
	defer q.order.Unlock()
	if q.last >= maxQuestions {
		return false
	}
	q.last++
	q.mu.Lock()
	q.waiting[q.last] = answer
	q.mu.Unlock()
	q.to.send(report{Ask: &question{q.last, exact(path)}})
	return true
}

func (q *questions) answer(v verdict) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if answer := q.waiting[v.Number]; answer != nil {
		answer <- v.Make
		delete(q.waiting, v.Number)
	}
}

func (q *questions) end() { q.once.Do(func() { close(q.over) }) }
