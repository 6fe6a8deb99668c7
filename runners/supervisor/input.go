package supervisor

import (
	"io"
	"os"
	"sync"
)

// input is what a command reads: nothing, or what a reader gives.
type input struct {
	r    *os.File       // for the process; nil where that reads from what it writes to
	w    io.WriteCloser // nil for nothing
	from io.Reader

	closing sync.Once
}

// newInput opens what a process gets as its standard input. A reader is always behind a pipe: a file of ours,
// which may be a terminal, is nothing for a command.
func newInput(from io.Reader) (*input, error) {
	if from == nil {
		null, err := os.Open(os.DevNull)
		return &input{r: null}, err
	}
	r, w, err := os.Pipe()
	return &input{r: r, w: w, from: from}, err
}

// abandon frees the pipe of a command that did not start.
func (i *input) abandon() {
	_ = i.r.Close()
	i.end()
}

// begin closes our copy of what the process has now, and passes on what the reader gives.
func (i *input) begin() {
	_ = i.r.Close()
	if i.w == nil {
		return
	}
	go func() {
		_, _ = io.Copy(onlyWriter{i.w}, i.from) // an error means that nobody reads any more, or that there is no more
		i.end()
	}()
}

// end is the end of what the process reads. A reader that does not return is left to itself.
func (i *input) end() {
	if i.w != nil {
		i.closing.Do(func() { _ = i.w.Close() })
	}
}

// onlyWriter hides what else a file can do: splicing would move a terminal's or a socket's bytes by another way.
type onlyWriter struct{ io.Writer }
