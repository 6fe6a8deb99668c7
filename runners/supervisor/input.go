package supervisor

import (
	"io"
	"os"
	"sync"
)

// input is the standard input of a command: empty, or the data of a reader.
type input struct {
	r    *os.File       // for the process; nil if it reads from the file that it writes to
	w    io.WriteCloser // nil for nothing
	from io.Reader

	closing sync.Once
}

// newInput opens the standard input of a process. A reader is always behind a pipe: a file of ours, which may
// be a terminal, must not reach a command.
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

// begin closes our copy of the process's end, and passes on the reader's data.
func (i *input) begin() {
	_ = i.r.Close()
	if i.w == nil {
		return
	}
	go func() {
		_, _ = io.Copy(
			onlyWriter{i.w}, i.from) // an error means that nobody reads any more, or that there is no more
		i.end()
	}()
}

// end closes the input of the process. A reader that does not return is abandoned.
func (i *input) end() {
	if i.w != nil {
		i.closing.Do(func() { _ = i.w.Close() })
	}
}

// onlyWriter hides the other methods of a file: splicing would move the bytes of a terminal or a socket by
// another way.
type onlyWriter struct{ io.Writer }
