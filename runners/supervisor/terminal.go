package supervisor

import (
	"fmt"
	"os"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
)

// atTerminal makes a terminal for a command to read from and write to. Its standard error is the same; the
// stream that is kept of it stays empty. When nobody has the side of the command open, ours is at its end,
// and when that is closed the command is sent SIGHUP. It may close its descriptors all the same: we hold it
// open.
func atTerminal(c engine.Command) (stdin *input, stdout, stderr *stream, err error) {
	ours, theirs, err := openTerminal(*c.Terminal)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("make a terminal: %w: it takes /dev/ptmx and /dev/pts there", err)
	}
	if stderr, err = newStream(c.Output, nil); err != nil {
		_, _ = ours.Close(), theirs.Close()
		return nil, nil, nil, err
	}
	stdin = &input{w: keyboard{ours}, from: c.Stdin}
	stdout = &stream{r: ours, w: theirs, held: true, kept: newCapture(c.Output), view: newViewer(c.Stdout),
		drained: make(chan struct{})}
	return stdin, stdout, stderr, nil
}

// typeTime bounds the wait for room in the input of a terminal.
const typeTime = 50 * time.Millisecond

// keyboard is the side of a terminal on which somebody types. The stream that is read from the same file
// closes it.
type keyboard struct{ ours *os.File }

// Write types.
func (k keyboard) Write(p []byte) (int, error) { return k.ours.Write(p) }

// Close types the end of the input (Ctrl-D). A terminal with a full input, which no process reads, gets none.
// The first try comes before any deadline: on a busy machine that could pass before it.
func (k keyboard) Close() error {
	const endOfInput = "\x04"
	if n, err := writeNow(k.ours, []byte(endOfInput)); n == 1 && err == nil {
		return nil
	}
	if err := k.ours.SetWriteDeadline(time.Now().Add(typeTime)); err != nil {
		return err
	}
	_, err := k.ours.WriteString(endOfInput)
	return err
}
