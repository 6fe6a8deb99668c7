package engine

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// maxStanding bounds the answers of a gate that count for a while.
const maxStanding = 1000

// standing holds a person's answers that count until a time. Each counts for requests of the same subject
// with the same text, paths and reasons, and for no others.
type standing struct {
	mu      sync.Mutex
	answers map[[sha256.Size]byte]Approval
}

// standingKey names the requests for which an answer to one of them counts.
func standingKey(j *judged) (key [sha256.Size]byte, err error) {
	reasons := make([]Reason, len(j.decision.Reasons))
	for i, r := range j.decision.Reasons {
		reasons[i] = Reason{Rule: r.Rule, Effect: r.Effect, Message: r.Message}
	}
	paths := make([]facts.Path, len(j.input.Paths))
	for i, p := range j.input.Paths {
		paths[i] = facts.Path{Real: p.Real, Access: p.Access, Certainty: p.Certainty}
	}
	text, err := json.Marshal(struct {
		Subject         facts.Subject
		Tool            string
		Command, Dir    string
		Paths           []facts.Path
		Reasons         []Reason
		Stdin, Terminal bool
		Background      bool
	}{
		j.input.Subject, j.request.Tool, j.command.Text, j.command.WorkDir, paths, reasons,
		j.request.Stdin != nil, j.request.Terminal != nil, j.input.Request.Background,
	})
	return sha256.Sum256(text), err
}

// of returns the answer that counts for a request at a time.
func (s *standing) of(j *judged, now time.Time) (Approval, bool) {
	if j.input == nil {
		return Approval{}, false
	}
	key, err := standingKey(j)
	if err != nil {
		return Approval{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.answers[key]
	if ok && !now.Before(a.Until) {
		delete(s.answers, key)
		return Approval{}, false
	}
	return a, ok
}

// keep remembers a granted answer that counts until a time.
func (s *standing) keep(j *judged, a Approval, now time.Time) {
	if !a.Granted || !now.Before(a.Until) || j.input == nil {
		return
	}
	key, err := standingKey(j)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answers == nil {
		s.answers = map[[sha256.Size]byte]Approval{}
	}
	if len(s.answers) >= maxStanding {
		maps.DeleteFunc(s.answers, func(_ [sha256.Size]byte, old Approval) bool { return !now.Before(old.Until) })
	}
	if len(s.answers) < maxStanding {
		s.answers[key] = a
	}
}
