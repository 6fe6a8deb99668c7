package background

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/sallyport-dev/sallyport/engine"
)

// follow waits for the end of a shell and notes it.
func (m *Manager) follow(rec *record, job *engine.Job) {
	out := job.Wait()
	if out.Fault != nil && out.Fault.Part == "audit" {
		// How it ended could not be put on record. The gate keeps the output to itself then.
		rec.stdout.clear()
		rec.stderr.clear()
	}
	bytes := rec.stdout.fit() + rec.stderr.fit()
	m.mu.Lock()
	defer m.mu.Unlock()
	rec.shell = rec.shell.ended(out)
	rec.job, rec.bytes, rec.endedAt = nil, bytes, m.o.Now()
	m.forget()
	close(rec.done)
}

// ordered returns the shells in the order of their starts. The caller holds mu.
func (m *Manager) ordered() []*record {
	all := make([]*record, 0, len(m.shells))
	for _, rec := range m.shells {
		all = append(all, rec)
	}
	slices.SortFunc(all, func(a, b *record) int { return a.number - b.number })
	return all
}

// forget drops shells that ended too long ago, and the oldest of too many. The caller holds mu.
func (m *Manager) forget() {
	var over []*record
	bytes := 0
	for _, rec := range m.shells {
		if rec.shell.Ended() {
			over = append(over, rec)
			bytes += rec.bytes
		}
	}
	slices.SortFunc(
		over, func(a, b *record) int { return cmp.Or(a.endedAt.Compare(b.endedAt), a.number-b.number) })
	for i, rec := range over {
		left := len(over) - i
		if m.o.Now().Sub(rec.endedAt) < m.o.Keep && left <= m.o.KeepCount && bytes <= m.o.KeepBytes {
			return
		}
		bytes -= rec.bytes
		delete(m.shells, rec.shell.ID)
	}
}

// Close ends all shells at the same time, waits until they are gone, and starts no more. A shell that is
// being started is refused or ended. The error names shells with remaining processes.
func (m *Manager) Close() error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.close()
	m.kill()
	m.starts.Wait()
	var errs []error
	for _, rec := range m.kill() {
		<-rec.done
		if n := rec.shell.Survivors; n > 0 {
			errs = append(errs, fmt.Errorf("close %s: %d processes could not be ended", rec.shell.ID, n))
		}
	}
	return errors.Join(errs...)
}

// kill asks all that run to end, and returns all shells.
func (m *Manager) kill() []*record {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.ordered()
	for _, rec := range all {
		if rec.job != nil {
			rec.job.Kill("server closed")
		}
	}
	return all
}
