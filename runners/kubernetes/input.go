package kubernetes

import (
	"io"
	"sync"
)

// input reads a stream from its start on and keeps bytes until they are read, so that its end shows while
// nothing reads it.
type input struct {
	mu     sync.Mutex
	change *sync.Cond
	kept   []byte
	err    error         // of the stream
	ended  chan struct{} // closed at the end of the stream
}

// maxKept bounds the bytes that an input keeps. Beyond it the stream waits.
const maxKept = 1 << 20

func read(from io.Reader) *input {
	in := &input{ended: make(chan struct{})}
	in.change = sync.NewCond(&in.mu)
	go in.fill(from)
	return in
}

func (in *input) fill(from io.Reader) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		in.mu.Lock()
		for len(in.kept) > maxKept {
			in.change.Wait()
		}
		in.kept = append(in.kept, buffer[:n]...)
		in.err = err
		in.change.Broadcast()
		in.mu.Unlock()
		if err != nil {
			close(in.ended)
			return
		}
	}
}

// Read returns the kept bytes.
func (in *input) Read(b []byte) (int, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.kept) == 0 {
		if in.err != nil {
			return 0, in.err
		}
		in.change.Wait()
	}
	n := copy(b, in.kept)
	in.kept = in.kept[n:]
	in.change.Broadcast()
	return n, nil
}
