package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sallyport-dev/sallyport/internal/show"
	"github.com/sallyport-dev/sallyport/runners/docker"
)

// format is the value of a --format flag.
type format string

const (
	formatText format = "text"
	formatJSON format = "json"
)

func (f *format) String() string { return string(*f) }

// Set takes the formats there are; an unknown one must not mean text.
func (f *format) Set(s string) error {
	if s != string(formatText) && s != string(formatJSON) {
		return fmt.Errorf("want text or json")
	}
	*f = format(s)
	return nil
}

// Type names the value in help texts.
func (*format) Type() string { return "text|json" }

func formatFlag(cmd *cobra.Command) *format {
	f := formatText
	cmd.Flags().Var(&f, "format", "output as `text|json`")
	return &f
}

// What decisions look like, as package show has it.
var (
	writeJSON     = show.WriteJSON
	writeIndented = show.WriteIndented
	writeReasons  = show.WriteReasons
	printable     = show.Printable
	shorten       = show.Shorten
	styleOf       = show.StyleOf
)

// writeTable aligns rows under a head; where they are wider than the terminal, each row is a paragraph of
// its own. Cells are made printable: they may hold an agent's text.
func writeTable(w io.Writer, head []string, rows [][]string) error {
	var text bytes.Buffer
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{head}, rows...) {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = printable(c)
		}
		fmt.Fprintln(t, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	width := widthOf(w)
	fits := func(line string) bool { return utf8.RuneCountInString(line) <= width }
	if width == 0 || !slices.ContainsFunc(strings.Split(text.String(), "\n"),
		func(line string) bool { return !fits(line) }) {
		_, err := w.Write(text.Bytes())
		return err
	}
	text.Reset()
	for _, row := range rows {
		for i, c := range row {
			if i < len(head) && c != "" {
				text.WriteString(wrap(head[i]+": "+printable(c)+"\n", width, 2))
			}
		}
		text.WriteString("\n")
	}
	_, err := w.Write(text.Bytes())
	return err
}

// keptLines is how many lines of output are shown after a failure.
const keptLines = 20

// progressView shows how the making of an image goes: the steps each on a line, and at a terminal the last
// line of output below them, which the next one replaces.
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
