package wire

import (
	"bytes"
	"io"
	"maps"
	"slices"
	"sync"
)

// maxEnvirons bounds the directories with a kept answer, and maxEnviron the bytes of one.
const maxEnvirons, maxEnviron = 64, 1 << 16

// environ is an answer about the environment of commands in a directory: as sent, and as read.
type environ struct {
	frame []byte // without its length
	reply reply
}

// environs are the last such answers by directory. Each is asked for anew; an equal one is not encoded and
// decoded again.
type environs struct {
	mu sync.Mutex
	by map[string]environ
}

func (s *environs) last(dir exact) environ {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.by[string(dir)]
}

func (s *environs) keep(dir exact, e environ) {
	if e.reply.Error != nil || len(e.frame) > maxEnviron {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil || len(s.by) >= maxEnvirons {
		s.by = map[string]environ{}
	}
	s.by[string(dir)] = e
}

// write sends an answer of a supervisor.
func (s *environs) write(w io.Writer, dir exact, r reply) error {
	last := s.last(dir)
	if r.Error != nil || last.frame == nil || !slices.Equal(r.Env, last.reply.Env) ||
		!maps.Equal(r.Nodes, last.reply.Nodes) {
		frame, err := encode(r)
		if err != nil {
			return err
		}
		last = environ{frame: frame, reply: r}
		s.keep(dir, last)
	}
	_, err := w.Write(appendFrame(nil, last.frame))
	return err
}

// read reads an answer.
func (s *environs) read(from io.Reader, dir exact) (e environ, err error) {
	frame, err := readBody(from)
	if err != nil {
		return environ{}, err
	}
	if e = s.last(dir); bytes.Equal(frame, e.frame) {
		return e, nil
	}
	e = environ{frame: frame}
	if err = decode(frame, &e.reply); err != nil {
		return environ{}, err
	}
	e.reply.Env = slices.Clip(e.reply.Env)
	s.keep(dir, e)
	return e, nil
}
