package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/term"

	"github.com/sallyport-dev/sallyport/runners/docker"
)

// keptLines is how many lines of output are shown after a failure.
const keptLines = 20

// progressView shows how the making of an image goes: the steps each on a line, and at a terminal the last line of output
// below them, which the next one replaces.
type progressView struct {
	a     *app
	mu    sync.Mutex
	width int      // of the terminal; 0 for none
	live  bool     // a line that is to be replaced stands there
	last  []string // of the output of the step that runs
}

func (a *app) viewProgress() *progressView {
	v := &progressView{a: a}
	if f, ok := a.err.(*os.File); ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		v.width = 80
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			v.width = width
		}
	}
	return v
}

func (v *progressView) report(p docker.Progress) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if p.Step != "" {
		v.wipe()
		v.last = nil
		v.a.say("%s", printable(p.Step))
		return
	}
	if v.last = append(v.last, printable(p.Line)); len(v.last) > keptLines {
		v.last = v.last[1:]
	}
	switch {
	case v.a.verbose > 0:
		v.a.say("  %s", printable(p.Line))
	case v.width > 10:
		v.wipe()
		fmt.Fprintf(v.a.err, "  %s", shorten(printable(p.Line), v.width-3))
		v.live = true
	}
}

// clear takes the line away that is to be replaced.
func (v *progressView) clear() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.wipe()
}

func (v *progressView) wipe() {
	if v.live {
		_, _ = io.WriteString(v.a.err, "\r\x1b[2K")
		v.live = false
	}
}

// end shows, after an error, the output that led to it.
func (v *progressView) end(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.wipe()
	if err == nil || v.a.verbose > 0 {
		return
	}
	for _, line := range v.last {
		v.a.say("  %s", line)
	}
}
