package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"
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

// writeJSON prints v on one line.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// writeIndented prints v for people and tools alike.
func writeIndented(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

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

// printable makes one line of a text that a terminal shows as it is: control characters, those
// that turn the direction of writing and broken UTF-8 are written out.
func printable(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// shorten cuts a text to n characters for a table.
func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// style colours words where w is a terminal and NO_COLOR (https://no-color.org) is not set.
type style bool

func styleOf(w io.Writer) style {
	f, ok := w.(*os.File)
	return style(ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd())))
}

func (s style) in(code, text string) string {
	if !s {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) red(text string) string    { return s.in("31", text) }
func (s style) yellow(text string) string { return s.in("33", text) }
func (s style) green(text string) string  { return s.in("32", text) }
func (s style) bold(text string) string   { return s.in("1", text) }
