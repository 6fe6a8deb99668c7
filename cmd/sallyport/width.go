package main

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// widthOf is how many columns w shows: $COLUMNS, or those of its terminal. It is 0 without a terminal.
func widthOf(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return n
}

// wrap breaks the lines of a text that are longer than width at blanks. Later lines are indented as the line is, and by
// more. A width of 0 breaks nothing.
func wrap(text string, width, more int) string {
	if width <= 0 {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		indent := len(line) - len(strings.TrimLeft(line, " ")) + more
		if indent > width/2 {
			indent = 2
		}
		for utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > width {
			r := []rune(line)
			at := strings.LastIndexByte(string(r[:width+1]), ' ')
			if at <= len(line)-len(strings.TrimLeft(line, " ")) {
				break // one long word
			}
			out.WriteString(strings.TrimRight(line[:at], " ") + "\n")
			line = strings.Repeat(" ", indent) + strings.TrimLeft(line[at:], " ")
		}
		out.WriteString(line)
	}
	return out.String()
}

// fitHelp breaks the help of all commands for the terminal on which it is shown.
func (a *app) fitHelp(root *cobra.Command) {
	usual := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		var text bytes.Buffer
		cmd.SetOut(&text)
		usual(cmd, args)
		cmd.SetOut(a.out)
		_, _ = io.WriteString(a.out, wrap(text.String(), widthOf(a.out), 0))
	})
}
