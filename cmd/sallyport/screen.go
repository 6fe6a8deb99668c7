package main

import (
	"cmp"
	"errors"
	"io"
	"os"
	"os/signal"

	"golang.org/x/term"

	"github.com/sallyport-dev/sallyport/engine"
)

// screen is the terminal that somebody runs sallyport at, lent to a command. A nil one is none.
type screen struct {
	file   *os.File
	before *term.State    // as it was; nil while it is not lent
	lent   chan struct{}  // closed when it is lent, or cannot be
	sizes  chan os.Signal // tells that its size has changed
}

// screenOf takes standard input for a terminal.
func screenOf(in io.Reader) (*screen, error) {
	file, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil, errors.New("--tty: standard input is no terminal: run it at one, or leave out --tty; --stdin passes on piped input")
	}
	s := &screen{file: file, lent: make(chan struct{}), sizes: make(chan os.Signal, 1)}
	if err := notifyResize(s.sizes); err != nil {
		return nil, err
	}
	return s, nil
}

// terminal is one like it for the command.
func (s *screen) terminal() *engine.Terminal {
	return &engine.Terminal{Name: cmp.Or(os.Getenv("TERM"), "dumb"), Size: s.size()}
}

// size is its size in characters; 80 by 24, that of early terminals, if it does not report one.
func (s *screen) size() engine.WindowSize {
	columns, rows, err := term.GetSize(int(s.file.Fd()))
	size := engine.WindowSize{Rows: rows, Columns: columns}
	if err != nil || size.Check() != nil {
		return engine.WindowSize{Rows: 24, Columns: 80}
	}
	return size
}

// lend has all that is typed go to a command that runs, keys that the terminal itself would act on too. Until
// then, when a person may be asked here, it stays as it was.
func (s *screen) lend(job *engine.Job) {
	if s == nil {
		return
	}
	defer close(s.lent)
	if job.PID() == 0 {
		return
	}
	before, err := term.MakeRaw(int(s.file.Fd()))
	if err != nil {
		job.Kill("the terminal cannot be lent: " + err.Error())
		return
	}
	s.before = before
	go func() {
		_ = job.Resize(s.size()) // it may have changed since it was asked for
		for range s.sizes {
			_ = job.Resize(s.size()) // the terminal of a command that has ended needs none
		}
	}()
}

// Read reads the input of the person for the command.
func (s *screen) Read(p []byte) (int, error) {
	<-s.lent
	return s.file.Read(p)
}

// shown is where the output of a command goes. What it writes before the terminal is lent waits: a terminal that is as
// it was would change it.
func (s *screen) shown(out io.Writer) io.Writer {
	if s == nil {
		return out
	}
	return shown{out, s.lent}
}

type shown struct {
	io.Writer
	lent <-chan struct{}
}

func (w shown) Write(p []byte) (int, error) {
	<-w.lent
	return w.Writer.Write(p)
}

// restore restores the settings of the terminal.
func (s *screen) restore() {
	if s == nil || s.before == nil {
		return
	}
	signal.Stop(s.sizes)
	_ = term.Restore(int(s.file.Fd()), s.before) // an error means that it is gone
	s.before = nil
}
