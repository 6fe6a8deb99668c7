package background

import (
	"context"
	"fmt"
)

// Output is the output of a shell, from given offsets on.
type Output struct {
	Shell          Shell
	Stdout, Stderr Chunk
}

// Since are the offsets from which each stream is read. The zero value reads the kept output from the
// beginning.
type Since struct {
	Stdout, Stderr int64
}

// List returns all shells that are not forgotten, in the order of their starts.
func (m *Manager) List() []Shell {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget()
	list := make([]Shell, 0, len(m.shells))
	for _, rec := range m.ordered() {
		list = append(list, m.now(rec))
	}
	return list
}

// Status returns a shell as it is now. The error is an *UnknownError.
func (m *Manager) Status(id string) (Shell, error) {
	_, s, err := m.find(id)
	return s, err
}

// Output returns the output of a shell since the given offsets, about limit bytes of each stream at most, or
// all that is kept if limit is 0. It consumes nothing: the same offsets give the same text as long as it is
// kept. The last Chunk of an ended shell is the end of its output. The error is an *UnknownError or an
// *OffsetError.
func (m *Manager) Output(id string, since Since, limit int) (Output, error) {
	// The state comes first: of a shell that has ended by now, everything has been written.
	rec, s, err := m.find(id)
	if err != nil {
		return Output{}, err
	}
	o := Output{Shell: s}
	for _, part := range []struct {
		name string
		from int64
		ring *ring
		to   *Chunk
	}{{"stdout", since.Stdout, rec.stdout, &o.Stdout}, {"stderr", since.Stderr, rec.stderr, &o.Stderr}} {
		*part.to = part.ring.read(max(part.from, 0), limit, s.Ended())
		if total := part.to.Total; part.from < 0 || part.from > total {
			return Output{}, &OffsetError{Stream: part.name, Offset: part.from, Total: total}
		}
	}
	return o, nil
}

// Kill ends a shell with all its processes (TERM, the grace period, KILL), waits until it is gone and returns
// how it really ended. already reports that it had ended before the kill reached it: then no signal was sent,
// and Shell.Signal is empty, unlike in Status. When ctx ends first, the kill goes on and the error says so.
func (m *Manager) Kill(ctx context.Context, id, reason string) (s Shell, already bool, err error) {
	rec, s, err := m.find(id)
	if err != nil || s.Ended() {
		s.Signal = ""
		return s, err == nil, err
	}
	m.mu.Lock()
	if rec.job != nil {
		rec.job.Kill(reason)
	}
	m.mu.Unlock()
	select {
	case <-rec.done:
	case <-ctx.Done():
		_, s, err := m.find(id)
		if err == nil && !s.Ended() {
			err = fmt.Errorf("kill %s: %w (termination continues)", id, ctx.Err())
		}
		return s, false, err
	}
	s = rec.shell // nothing changes it any more
	if already = s.Reason == ""; already {
		s.Signal = ""
	}
	return s, already, nil
}

// find returns the record of an id and how it is now.
func (m *Manager) find(id string) (*record, Shell, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget()
	rec := m.shells[id]
	if rec == nil {
		return nil, Shell{}, &UnknownError{ID: id, Keep: m.o.Keep}
	}
	return rec, m.now(rec), nil
}

// now returns how a shell is at this moment. The caller holds mu.
func (m *Manager) now(rec *record) Shell {
	s := rec.shell
	if !s.Ended() {
		s.Duration = m.o.Now().Sub(s.Started)
	}
	return s
}
