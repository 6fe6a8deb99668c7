package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
)

// line is one line of input, or why there are no more.
type line struct {
	text    []byte
	tooLong bool
	err     error
}

// lines reads in line by line. Of a line longer than most nothing is kept. The channel is closed at the
// end of input. The reading itself cannot be interrupted: its goroutine may outlast ctx, until in ends.
func lines(ctx context.Context, in io.Reader, most int) <-chan line {
	out := make(chan line)
	go func() {
		defer close(out)
		r := bufio.NewReaderSize(in, 64<<10)
		for {
			l, end := readLine(r, most)
			if len(l.text) > 0 || l.tooLong || l.err != nil {
				select {
				case out <- l:
				case <-ctx.Done():
					return
				}
			}
			if end {
				return
			}
		}
	}()
	return out
}

// readLine reads one line without its end. Text after the last line break counts as a line.
func readLine(r *bufio.Reader, most int) (l line, end bool) {
	var kept bytes.Buffer
	for {
		part, err := r.ReadSlice('\n')
		if !l.tooLong {
			if kept.Len()+len(part) > most+1 {
				l.tooLong = true
				kept = bytes.Buffer{}
			} else {
				kept.Write(part)
			}
		}
		switch {
		case err == nil:
			l.text = bytes.TrimSuffix(kept.Bytes(), []byte("\n"))
			return l, false
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF):
			l.text = kept.Bytes()
			return l, true
		default:
			return line{err: err}, true
		}
	}
}
