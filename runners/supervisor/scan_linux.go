package supervisor

import "sync"

// scan is one look at all processes. It is shared, so nobody changes it.
type scan struct {
	all      []proc
	children map[int][]proc
	err      error
	done     chan struct{} // closed when it is complete
}

// scans lets concurrent callers share one scan: to end many commands at once then costs about as much as to
// end one. A caller does not join a scan that has begun, since the answer must show events before the call.
type scans struct {
	turn sync.Mutex // held during a look
	mu   sync.Mutex
	next *scan                  // has not begun; nil when nobody waits for one
	read func() ([]proc, error) // nil for processes
}

// take returns a look that began after the call.
func (s *scans) take() *scan {
	s.mu.Lock()
	if joined := s.next; joined != nil {
		s.mu.Unlock()
		<-joined.done
		return joined
	}
	own := &scan{done: make(chan struct{})}
	s.next = own
	s.mu.Unlock()

	s.turn.Lock()
	defer s.turn.Unlock()
	s.mu.Lock()
	s.next = nil
	s.mu.Unlock()
	read := s.read
	if read == nil {
		read = processes
	}
	own.all, own.err = read()
	own.children = make(map[int][]proc, len(own.all))
	for _, p := range own.all {
		own.children[p.ppid] = append(own.children[p.ppid], p)
	}
	close(own.done)
	return own
}
