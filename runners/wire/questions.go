package wire

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// questions are those that a command waits for an answer to, where it runs.
type questions struct {
	to    *reporter
	begun chan struct{} // closed when the start of the command is reported: questions come after it

	files  facts.FS      // where the command runs
	names  atomic.Uint64 // questions about names
	starts chan struct{} // questions about programs that wait for an answer
	looks  chan struct{} // programs whose files are looked up: each may take a thread

	order   sync.Mutex // held while a question gets its number and is sent
	mu      sync.Mutex
	last    uint64
	waiting map[uint64]*waiting
	once    sync.Once
	over    chan struct{}  // closed when no answer will come
	known   map[digest]int // answers to questions about programs that hold, as an index into repeats
	repeats []repeat
}

// digest names a question about a program.
type digest [sha256.Size]byte

// waiting is a question that waits for its answer.
type waiting struct {
	answer chan bool
	of     digest
}

func newQuestions(to *reporter, files facts.FS) *questions {
	return &questions{
		to: to, files: files, waiting: map[uint64]*waiting{}, begun: make(chan struct{}), over: make(chan struct{}),
		starts: make(chan struct{}, maxStarts), looks: make(chan struct{}, maxLooks), known: map[digest]int{},
	}
}

// ask asks whether the command may make a name. Only so many questions are sent.
func (q *questions) ask(path string) bool {
	if q.names.Add(1) > maxQuestions {
		return false
	}
	return q.put(question{Path: exact(path)}, digest{})
}

// start asks whether a program may start, unless the answer is known. Only so many wait at once.
func (q *questions) start(p engine.Program) engine.Verdict {
	if !p.Begun {
		p.Seen = q.ways(p)
	}
	text, err := json.Marshal(programOf(p))
	if err != nil {
		return engine.Verdict{}
	}
	of := digest(sha256.Sum256(text))
	if q.repeated(of) {
		return engine.Verdict{May: true}
	}
	if p.Waits != nil {
		p.Waits()
	}
	select {
	case q.starts <- struct{}{}:
		defer func() { <-q.starts }()
	case <-q.over:
		return engine.Verdict{}
	}
	asked := question{Program: text}
	if p.Way != nil {
		asked.Way = exacts(p.Way())
	}
	return engine.Verdict{May: q.put(asked, of)}
}

// ways looks up the files that the facts about a program need.
func (q *questions) ways(p engine.Program) facts.Ways {
	q.looks <- struct{}{}
	defer func() { <-q.looks }()
	to := placesOf(p)
	return facts.Ways{To: to, Nodes: walk(q.files, to)}
}

// repeated reports a question that an earlier answer allows, and counts it.
func (q *questions) repeated(of digest) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i, ok := q.known[of]
	if ok {
		q.repeats[i].Times++
	}
	return ok
}

// forget has all questions asked again.
func (q *questions) forget() {
	q.mu.Lock()
	defer q.mu.Unlock()
	clear(q.known)
}

// put asks a question. Without an answer it is answered with no.
func (q *questions) put(v question, of digest) bool {
	select {
	case <-q.begun:
	case <-q.over:
		return false
	}
	w := &waiting{make(chan bool, 1), of}
	if !q.send(v, w) {
		return false
	}
	select {
	case may := <-w.answer:
		return may
	case <-q.over:
		return false
	}
}

// send sends a question with the next number. One that is too large for a frame is not sent.
func (q *questions) send(v question, w *waiting) bool {
	q.order.Lock()
	defer q.order.Unlock()
	v.Number = q.last + 1
	q.mu.Lock()
	q.waiting[v.Number] = w
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
	w := q.waiting[v.Number]
	if w == nil {
		return
	}
	delete(q.waiting, v.Number)
	if v.Yes && v.Again && len(q.repeats) < maxRepeats {
		q.known[w.of] = len(q.repeats)
		q.repeats = append(q.repeats, repeat{Number: v.Number})
	}
	w.answer <- v.Yes
}

// counted lists the repeats of questions, and answers no question from then on.
func (q *questions) counted() []repeat {
	q.mu.Lock()
	defer q.mu.Unlock()
	clear(q.known)
	return slices.DeleteFunc(q.repeats, func(r repeat) bool { return r.Times == 0 })
}

func (q *questions) end() { q.once.Do(func() { close(q.over) }) }
