package engine

import "sync"

// refusals are the files that a command could not make. The zero value is empty.
type refusals struct {
	mu    sync.Mutex
	files []Held
	fault *Fault
}

func (r *refusals) add(files []Held, f *Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f != nil {
		r.fault = f
	}
	for _, h := range files {
		h.Left, h.Refused = "nothing", true
		r.files = append(r.files, h)
	}
}

func (r *refusals) all() ([]Held, *Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.files, r.fault
}

// mayMake decides about names that a command is about to make, by the policies that decide about the files
// that commands leave. Nil leaves all of them to the end of the command.
func (g *Gate) mayMake(j *judged) func(path string) bool {
	if g.o.Boundary == nil || g.o.Mode != Enforce {
		return nil
	}
	return func(p string) bool {
		found := g.excuses.others([]string{p})
		if len(found) == 0 || g.o.Boundary.Released(p) {
			return true
		}
		_, refused, f := g.refuse(found, j.request.Subject)
		j.refusals.add(refused, f)
		return len(refused) == 0
	}
}
