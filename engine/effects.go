package engine

import (
	"errors"
	"slices"
	"time"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
)

// effects are the changes of a program that the ledger notes: the files that it makes, moves, deletes and
// downloads. The files that programs read are not seen by the agent, and not noted.
type effects struct {
	in      *facts.Input
	end     func(files facts.FS, exitCode int) error
	fetches bool // it downloads files that are not there yet
}

const (
	// maxEffects bounds the programs of a command about which the ledger notes anything.
	maxEffects = 1000
	// unread is a status after which a ledger notes no reads. How a program ended is not known.
	unread = 2
)

// expect has the ledger note the effects of a program that was allowed.
func (g *Gate) expect(j *judged, in *facts.Input) {
	if g.o.Ledger == nil || in == nil {
		return
	}
	changes := func(p facts.Path) bool { return p.Access == "write" || p.Access == "delete" }
	s := &j.starts
	s.noting.Lock()
	defer s.noting.Unlock()
	if !slices.ContainsFunc(in.Paths, changes) || len(s.notes) >= maxEffects {
		return
	}
	s.notes = append(s.notes, &effects{in: in, end: g.o.Ledger.Begin(in, nil), fetches: facts.Downloads(in)})
}

// noteFetched notes the files that programs of a command have downloaded by now: the next one may run them.
func (g *Gate) noteFetched(j *judged) {
	s := &j.starts
	s.noting.Lock()
	defer s.noting.Unlock()
	var fetching []*effects
	for _, e := range s.notes {
		if e.fetches {
			fetching = append(fetching, e)
		}
	}
	if len(fetching) == 0 || g.note(j, fetching) != nil { // an error shows at the end
		return
	}
	for _, e := range fetching {
		e.fetches = slices.ContainsFunc(e.in.Paths, func(p facts.Path) bool {
			return p.Access == "write" && p.Real != "" && !g.o.Ledger.Downloaded(p.Real)
		})
	}
}

// noteStarts notes the effects of all programs of a command that ended.
func (g *Gate) noteStarts(j *judged) error {
	s := &j.starts
	s.noting.Lock()
	defer s.noting.Unlock()
	return g.note(j, s.notes)
}

func (g *Gate) note(j *judged, all []*effects) error {
	if len(all) == 0 {
		return nil
	}
	var paths []facts.Path
	for _, e := range all {
		paths = append(paths, e.in.Paths...)
	}
	files := disk.Foresee(j.env.FS(), paths, time.Now().Add(g.o.Limits.Judge))
	var errs []error
	for _, e := range all {
		errs = append(errs, e.end(files, unread))
	}
	g.past.moved()
	return errors.Join(errs...)
}
