package filetools

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// Bounds of a comparison line by line, and of its result.
const (
	maxCompared    = 10 << 20 // bytes of one file
	maxComparedAll = 200_000  // lines of one file
	maxDiffLine    = 2000     // bytes of one line that are shown
	maxDiffBytes   = 256 << 10
)

// change is a run of lines that differ: old[oldStart:oldEnd] became new[newStart:newEnd].
type change struct{ oldStart, oldEnd, newStart, newEnd int }

// DiffStats counts lines over the whole of both files.
type DiffStats struct {
	Added   int `json:"added" jsonschema:"lines only in the second file"`
	Removed int `json:"removed" jsonschema:"lines only in the first file"`
	Changed int `json:"changed" jsonschema:"the smaller of both"`
}

// lineDiff is the difference of two texts.
type lineDiff struct {
	old, new []string // lines, without their ends
	oldTail  bool     // the old text ends without a newline
	newTail  bool
	changes  []change
}

// compareLines finds the lines that differ. It takes the time of sorting the lines, even when they have
// nothing in common: lines that occur once in both texts align them.
func compareLines(a, b []byte) lineDiff {
	d := lineDiff{}
	d.old, d.oldTail = splitLines(a)
	d.new, d.newTail = splitLines(b)
	d.changes = changesOf(diff.Diff("a", a, "b", b))
	return d
}

func splitLines(text []byte) (lines []string, tail bool) {
	if len(text) == 0 {
		return nil, false
	}
	tail = text[len(text)-1] != '\n'
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), tail
}

// changesOf reads the changes out of a unified diff, so that they can be shown with any context.
func changesOf(unified []byte) []change {
	var out []change
	x, y := 0, 0
	open := false // the last of out still grows
	for i := 0; len(unified) > 0; i++ {
		line, rest, _ := bytes.Cut(unified, []byte("\n"))
		unified = rest
		if i < 3 || len(line) == 0 { // the three lines of its header
			continue
		}
		switch line[0] {
		case '@':
			x, y = hunkStart(string(line))
			open = false
		case ' ':
			x, y, open = x+1, y+1, false
		case '-', '+':
			if !open {
				out = append(out, change{x, x, y, y})
				open = true
			}
			c := &out[len(out)-1]
			if line[0] == '-' {
				x++
				c.oldEnd = x
			} else {
				y++
				c.newEnd = y
			}
		}
	}
	return out
}

// hunkStart reads "@@ -12,3 +14,5 @@" and counts lines from 0. An empty side says the line before it.
func hunkStart(line string) (x, y int) {
	side := func(s string) int {
		start, count, _ := strings.Cut(s[1:], ",")
		n, _ := strconv.Atoi(start)
		if count != "0" {
			n--
		}
		return n
	}
	fields := strings.Fields(line)
	return side(fields[1]), side(fields[2])
}

func (d lineDiff) stats() DiffStats {
	var s DiffStats
	for _, c := range d.changes {
		s.Removed += c.oldEnd - c.oldStart
		s.Added += c.newEnd - c.newStart
	}
	s.Changed = min(s.Added, s.Removed)
	return s
}

// shown is a diff as far as it was kept.
type shown struct {
	strings.Builder
	lines, most int
	dropped     int
}

func (s *shown) line(prefix, text string) {
	if s.lines >= s.most || s.Len() > maxDiffBytes {
		s.dropped++
		return
	}
	s.lines++
	s.WriteString(prefix)
	if len(text) > maxDiffLine {
		s.WriteString(strings.ToValidUTF8(string(trimPartialRune([]byte(text[:maxDiffLine]))), "\uFFFD"))
		fmt.Fprintf(s, "… (%d more bytes)", len(text)-maxDiffLine)
	} else {
		s.WriteString(strings.ToValidUTF8(text, "\uFFFD"))
	}
	s.WriteByte('\n')
}

// unified shows at most a number of lines of the difference, as diff -u does.
func (d lineDiff) unified(oldName, newName string, context, most int) string {
	if len(d.changes) == 0 {
		return ""
	}
	s := &shown{most: most}
	s.line("--- ", oldName)
	s.line("+++ ", newName)
	for from := 0; from < len(d.changes); {
		to := from + 1
		for to < len(d.changes) && d.changes[to].oldStart-d.changes[to-1].oldEnd <= 2*context {
			to++
		}
		d.hunk(s, d.changes[from:to], context)
		from = to
	}
	if s.dropped > 0 {
		fmt.Fprintf(s, "... (%d more lines of the diff are not shown)\n", s.dropped)
	}
	return s.String()
}

// hunk shows changes that lie close together, with the lines around them.
func (d lineDiff) hunk(s *shown, changes []change, context int) {
	first, last := changes[0], changes[len(changes)-1]
	before := min(context, first.oldStart)
	after := min(context, len(d.old)-last.oldEnd)
	x := first.oldStart - before
	s.line("@@ ", fmt.Sprintf("-%s +%s @@",
		span(x, last.oldEnd+after), span(first.newStart-before, last.newEnd+after)))
	for _, c := range changes {
		d.show(s, " ", d.old, x, c.oldStart, d.oldTail)
		d.show(s, "-", d.old, c.oldStart, c.oldEnd, d.oldTail)
		d.show(s, "+", d.new, c.newStart, c.newEnd, d.newTail)
		x = c.oldEnd
	}
	d.show(s, " ", d.old, x, x+after, d.oldTail)
}

func (d lineDiff) show(s *shown, prefix string, lines []string, from, to int, tail bool) {
	for i := from; i < to; i++ {
		s.line(prefix, lines[i])
		if tail && i == len(lines)-1 {
			s.line(`\ `, "No newline at end of file")
		}
	}
}

// span says which lines a side of a hunk has, counted from 1.
func span(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return strconv.Itoa(from + 1)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}
