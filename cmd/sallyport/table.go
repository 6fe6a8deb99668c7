package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/internal/show"
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

// writeTable aligns rows under a head; where they are wider than the terminal, each row is a paragraph of its own. Cells
// are made printable: they may hold an agent's text.
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
	if width == 0 || !slices.ContainsFunc(strings.Split(text.String(), "\n"), func(line string) bool { return !fits(line) }) {
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
