package show

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/sallyport-dev/sallyport/engine"
)

const (
	// mostDiff bounds the lines of a diff, and widest each line, in bytes.
	mostDiff = 200
	widest   = 400
)

// Diff shows the contents of changed text files before and after, as lines of unified diffs that a terminal
// shows as they are. redact takes the secrets out of a text. Names without a diff are in the list of changes.
func Diff(c engine.Changes, redact func(string) string) (lines []string) {
	for _, one := range c.List {
		if one.Texts == nil || one.Texts.Before == one.Texts.After {
			continue
		}
		before, after := redact(one.Texts.Before), redact(one.Texts.After)
		if before == after {
			lines = append(lines, Printable(one.Path)+": only redacted parts differ")
			continue
		}
		old, now := nameOf(one, engine.Created), nameOf(one, engine.Removed)
		text := diff.Diff(old, []byte(before), now, []byte(after))
		_, text, _ = bytes.Cut(text, []byte("\n")) // a line for programs
		for line := range strings.Lines(string(text)) {
			if len(lines) == mostDiff {
				return append(lines, "the diff goes on")
			}
			line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    ")
			if more := len(line) - widest; more > 0 {
				line = fmt.Sprintf("%s… %d more bytes", strings.ToValidUTF8(line[:widest], ""), more)
			}
			lines = append(lines, Printable(line))
		}
	}
	return lines
}

// nameOf is the name of one side of a diff: there is no file where the change is of the kind absent.
func nameOf(c engine.Change, absent string) string {
	if c.What == absent {
		return "/dev/null"
	}
	return Printable(c.Path)
}
