package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

const (
	recentMost   = 16  // requests that one input has
	sessionsMost = 256 // sessions that a gate remembers
	approvedMost = 64  // programs that a session remembers as approved; of more the first ones
)

// history is a gate's memory of sessions. It lives as long as the gate, and its size is bounded. The zero
// value remembers nothing yet. It is safe for concurrent use.
type history struct {
	mu       sync.Mutex
	sessions map[owner]*session
	uses     uint64
	over     chan struct{} // closed at the next change; nil while nobody waits for one
}

// steady returns a channel that is closed once inputs may have other facts about sessions than now.
func (h *history) steady() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over == nil {
		h.over = make(chan struct{})
	}
	return h.over
}

// moved tells that something changed by which requests are judged.
func (h *history) moved() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.movedLocked()
}

func (h *history) movedLocked() {
	if h.over != nil {
		close(h.over)
		h.over = nil
	}
}

// owner is the part of a subject that an agent cannot choose: a new name of its client begins no new session.
type owner struct{ agent, session string }

// session is the memory of one session.
type session struct {
	used        uint64
	counts      facts.Counts
	first, last time.Time
	labels      map[string]bool  // of the requests that ran
	operator    map[string]bool  // and the operator's own
	approved    []facts.Approved // sorted, each once
	recent      []*entry         // the oldest first; all that are being decided are among them
	dropped     int
	newest      time.Time // of those that were dropped
}

// entry is one request in its session. A nil entry is one that is not remembered.
type entry struct {
	of    *history
	in    *session
	event facts.Event
	asks  []facts.Approved // becomes approved with the request
}

// enter remembers a request and gives its input the requests before it, in one step: of several that arrive
// at once, each sees those that came before it. Call it once the facts are made and before a policy sees
// them.
func (h *history) enter(in *facts.Input) *entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	who, now := owner{in.Subject.Agent, in.Subject.Session}, in.Request.Time
	s := h.sessions[who]
	if s == nil {
		s = h.begin(who, now)
	} else {
		in.Session = s.facts(now)
	}
	h.uses++
	s.used = h.uses
	e := &entry{of: h, in: s, event: facts.EventOf(in), asks: facts.ApprovalOf(in)}
	s.recent = append(s.recent, e)
	s.counts.Pending++
	h.movedLocked()
	if now.After(s.last) {
		s.last = now
	}
	s.trim()
	return e
}

// begin makes a session. Of too many it forgets the one that was not used for the longest time.
func (h *history) begin(who owner, now time.Time) *session {
	if h.sessions == nil {
		h.sessions = map[owner]*session{}
	}
	if len(h.sessions) >= sessionsMost {
		oldest := who
		for o, s := range h.sessions {
			if oldest == who || s.used < h.sessions[oldest].used {
				oldest = o
			}
		}
		delete(h.sessions, oldest)
	}
	s := &session{first: now, last: now, labels: map[string]bool{}, operator: map[string]bool{}}
	h.sessions[who] = s
	return s
}

// look gives an input the requests before it, and remembers nothing.
func (h *history) look(in *facts.Input) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.sessions[owner{in.Subject.Agent, in.Subject.Session}]; s != nil {
		in.Session = s.facts(in.Request.Time)
	}
}

// trim drops the oldest requests that are decided, down to the bound.
func (s *session) trim() {
	for i := 0; i < len(s.recent) && len(s.recent) > recentMost; {
		if s.recent[i].event.State == "deciding" {
			i++
			continue
		}
		s.drop(s.recent[i].event.Time)
		s.recent = slices.Delete(s.recent, i, i+1)
	}
}

func (s *session) drop(at time.Time) {
	s.dropped++
	if at.After(s.newest) {
		s.newest = at
	}
}

// facts is the session at a time.
func (s *session) facts(now time.Time) facts.Session {
	of := facts.NoSession()
	of.Counts, of.First, of.Last = s.counts, s.first.Format(time.RFC3339Nano), s.last.Format(time.RFC3339Nano)
	of.Dropped.Count = s.dropped
	newest := s.newest
	labels, operator := maps.Clone(s.labels), maps.Clone(s.operator)
	for i, e := range s.recent {
		if e.event.State == "deciding" { // it may read its files while this request runs
			add(labels, e.event.Labels)
			add(operator, e.event.OperatorLabels)
		}
		if i < len(s.recent)-recentMost { // more than that many are being decided
			of.Dropped.Count++
			if e.event.Time.After(newest) {
				newest = e.event.Time
			}
			continue
		}
		event := e.event
		event.AgeSeconds = age(now, event.Time)
		of.Recent = append(of.Recent, event)
	}
	if of.Dropped.Count > 0 {
		of.Dropped.AgeSeconds = age(now, newest)
	}
	of.Labels, of.OperatorLabels = facts.Sorted(labels), facts.Sorted(operator)
	of.Approved = append(of.Approved, s.approved...)
	return of
}

func add(set map[string]bool, names []string) {
	for _, name := range names {
		set[name] = true
	}
}

// age is the time between two requests in seconds, in milliseconds' resolution. Requests are entered in
// another order than they arrive where their facts take different times: an age is never negative.
func age(now, then time.Time) float64 {
	return float64(max(0, now.Sub(then)).Milliseconds()) / 1000
}

// change changes an entry under the lock of its history.
func (e *entry) change(f func(*facts.Event, *session)) {
	if e == nil {
		return
	}
	e.of.mu.Lock()
	defer e.of.mu.Unlock()
	f(&e.event, e.in)
	e.in.trim()
	e.of.movedLocked()
}

// decided notes the effect of the decision.
func (e *entry) decided(effect Effect) {
	e.change(func(event *facts.Event, s *session) {
		s.counts.Pending--
		event.Effect = string(effect)
		switch effect {
		case Allow:
			s.counts.Allow++
		case Ask:
			s.counts.Ask++
		default:
			s.counts.Deny++
		}
	})
}

// approved notes a person's answer.
func (e *entry) approved(granted bool) {
	e.change(func(event *facts.Event, s *session) {
		if event.Approval = "refused"; granted {
			event.Approval = "granted"
			s.remember(e.asks)
		}
	})
}

// remember adds approved programs, up to the bound.
func (s *session) remember(programs []facts.Approved) {
	for _, p := range programs {
		at, found := slices.BinarySearchFunc(s.approved, p, compareApproved)
		if !found && len(s.approved) < approvedMost {
			s.approved = slices.Insert(s.approved, at, p)
		}
	}
}

func compareApproved(a, b facts.Approved) int {
	unread := cmp.Compare(bit(a.Unread), bit(b.Unread))
	return cmp.Or(strings.Compare(a.Program, b.Program), strings.Compare(a.Dir, b.Dir), unread)
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// refused notes that nothing of the request runs.
func (e *entry) refused() {
	e.change(func(event *facts.Event, _ *session) { event.State = "refused" })
}

// runs notes that the request runs now: its reads count from here on.
func (e *entry) runs() {
	e.change(func(event *facts.Event, s *session) {
		event.State = "running"
		s.counts.Running++
		add(s.labels, event.Labels)
		add(s.operator, event.OperatorLabels)
	})
}

// ended notes the exit status.
func (e *entry) ended(code int) {
	e.change(func(event *facts.Event, s *session) {
		event.State, event.Exit = "ended", code
		s.counts.Running--
	})
}

// reported notes the end of a request that a host ran by itself, while it is among the newest.
func (h *history) reported(decision string, code int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.sessions {
		for _, e := range s.recent {
			if e.event.ID == decision && e.event.State == "running" {
				e.event.State, e.event.Exit = "ended", code
				s.counts.Running--
				h.movedLocked()
				return
			}
		}
	}
}

// Earlier is a request that a case of a policy takes for granted.
type Earlier struct {
	Request  Request
	Ago      time.Duration // before the request that the case is about
	Effect   Effect
	State    string // "running", "ended" or "refused"; "deciding" without an effect, or for one that is asked
	Approval string // "granted", "refused" or ""
	Exit     int    // status of one that ended
}

// Recall remembers a request that never came, for cases of policies: its facts are made as those of any
// other, and its decision is the given one. A gate that records, and so runs commands, recalls nothing.
func (g *Gate) Recall(ctx context.Context, earlier Earlier) error {
	if g.o.Recorder != nil {
		return errors.New("recall a request: the gate records: only one that checks recalls")
	}
	env, builder, fault := g.ready(ctx)
	if fault != nil {
		return fmt.Errorf("recall a request: %w", fault)
	}
	if earlier.Request.Subject == (facts.Subject{}) {
		earlier.Request.Subject = g.o.Subject
	}
	j := &judged{request: earlier.Request, decision: Decision{ID: g.o.NewID()}}
	if fault, err := g.read(ctx, env, builder, j, g.o.Now().Add(-earlier.Ago)); err != nil {
		return fmt.Errorf("recall a request: %w", err)
	} else if fault != nil {
		return fmt.Errorf("recall a request: %w", fault)
	}
	e := g.past.enter(j.input)
	if earlier.Effect != "" {
		e.decided(earlier.Effect)
	}
	if earlier.Approval != "" {
		e.approved(earlier.Approval == "granted")
	}
	switch earlier.State {
	case "running":
		e.runs()
	case "ended":
		e.runs()
		e.ended(earlier.Exit)
	case "refused":
		e.refused()
	case "deciding":
	default:
		return fmt.Errorf("recall a request: state %q: use deciding, running, ended or refused", earlier.State)
	}
	return nil
}
