package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/sallyport-dev/sallyport/engine"
)

// edits tries edits of one log. A verifier reads forwards, so an edit is judged from the first line that it
// touches: up to there, the verifier is in the state that it had there in the log as it was. Where the next
// lines show no problem, the whole file is verified.
type edits struct {
	t     *testing.T
	disk  *memDisk
	file  *memNode
	o     VerifyOptions
	whole []byte
	lines [][]byte
	at    []int      // where each line begins, and the end
	until []verifier // before each line
	buf   []byte
	rand  *rand.Rand
	tried map[string]int

	// missed is called for an edit that is not detected.
	missed func(kind string, line int)
}

func newEdits(t *testing.T, d *memDisk, n *memNode, o VerifyOptions) *edits {
	t.Helper()
	e := &edits{t: t, disk: d, file: n, o: o, whole: slices.Clone(n.data), tried: map[string]int{},
		rand: rand.New(rand.NewPCG(12, 1000))}
	if e.verify(e.whole) {
		t.Fatal("the log is reported as it was")
	}
	lines := bytes.SplitAfter(e.whole, []byte("\n"))
	e.lines = lines[:len(lines)-1]
	v := verifier{
		dir:     "/s/audit",
		fs:      d,
		open:    map[string]place{},
		granted: map[string]bool{},
		hosted:  map[string]bool{},
		removed: map[int]prunedFile{},
		excused: map[string]bool{},
	}
	if err := v.prepare(o); err != nil {
		t.Fatal(err)
	}
	v.st.segment = 1
	r := newLineReader(bytes.NewReader(e.whole), 0, int64(len(e.whole)))
	for off := 0; ; {
		line, whole, err := r.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || !whole {
			t.Fatal(whole, err)
		}
		e.until, e.at = append(e.until, copyOf(v)), append(e.at, off)
		off += len(line) + 1
		v.check(r, line)
	}
	e.at = append(e.at, len(e.whole))
	return e
}

func copyOf(v verifier) verifier {
	v.st = v.st.clone()
	v.open, v.granted, v.hosted = maps.Clone(v.open), maps.Clone(v.granted), maps.Clone(v.hosted)
	v.tail, v.last, v.r.Problems = nil, nil, nil
	return v
}

// verify reports whether the whole log with this content shows a problem.
func (e *edits) verify(content []byte) bool {
	e.t.Helper()
	e.file.data = content
	r, err := verify(e.disk, "/s/audit", e.o)
	if err != nil {
		e.t.Fatal(err)
	}
	return !r.OK
}

// soon reports whether lines that stand in place of line i and those after it show a problem.
func (e *edits) soon(i int, lines ...[]byte) bool {
	e.buf = append(e.buf[:0], 0)
	for _, l := range lines {
		e.buf = append(e.buf, l...)
	}
	r := &lineReader{buf: e.buf, lo: 1, hi: len(e.buf)}
	v := copyOf(e.until[i])
	for {
		line, whole, err := r.next()
		if err != nil || !whole {
			return false
		}
		if v.check(r, line); v.r.ProblemCount > 0 {
			return true
		}
	}
}

// try judges an edit: the log up to line i, and then these parts.
func (e *edits) try(kind string, i int, parts ...[]byte) {
	e.t.Helper()
	e.tried[kind]++
	few := parts
	for n, size := 0, 0; n < len(parts); n++ {
		if size += len(parts[n]); n >= 2 && size > 4<<10 {
			few = parts[:n]
			break
		}
	}
	found := e.soon(i, few...)
	if !found || e.rand.IntN(20_000) == 0 {
		whole := e.verify(slices.Concat(e.whole[:e.at[i]], bytes.Join(parts, nil)))
		if found && !whole {
			e.t.Fatalf("%s at line %d: a problem shows in the first lines and not in the whole log", kind, i+1)
		}
		found = whole
	}
	if !found {
		e.missed(kind, i)
	}
}

// rest are some lines and the lines of the log from one number on.
func (e *edits) rest(from int, lines ...[]byte) [][]byte { return e.span(from, len(e.lines), lines...) }

// span are some lines and the lines of the log from one number up to another: two by themselves, the others
// in one.
func (e *edits) span(from, to int, lines ...[]byte) [][]byte {
	for alone := 0; from < to && alone < 2; alone++ {
		lines = append(lines, e.lines[from])
		from++
	}
	if from < to {
		lines = append(lines, e.whole[e.at[from]:e.at[to]])
	}
	return lines
}

// forged is a record with the right number and link for line i.
func (e *edits) forged(i int) []byte {
	e.t.Helper()
	p, err := encode(decision("forged", "true", engine.Deny), testTime, nil, defaultRecord)
	if err != nil {
		e.t.Fatal(err)
	}
	var prev tlog.Hash
	if i > 0 {
		prev = tlog.RecordHash(bytes.TrimSuffix(e.lines[i-1], []byte("\n")))
	}
	return append(appendLine(nil, int64(i), p, "1-1", prev), '\n')
}

// added is the edit that no checkpoint shows, for the log may grow.
const added = "add a forged record"

// all makes every edit of the lines with a number that step divides.
func (e *edits) all(step int) {
	e.t.Helper()
	for i := 0; i < len(e.lines); i += step {
		if i < len(e.lines)-1 {
			e.try("remove a record", i, e.rest(i+1)...)
			e.try("end behind a record", i, e.lines[i])
		}
		e.try("end within a record", i, e.lines[i][:1+e.rand.IntN(len(e.lines[i])-1)])
		for _, more := range [][]byte{[]byte("{}\n"), []byte("\n"), e.forged(i)} {
			e.try("insert a line", i, e.rest(i, more)...)
		}
		e.try("end with a forged record", i, e.forged(i))
		for j := 0; j < len(e.lines); j += step {
			e.try("repeat a record", i, e.rest(i, e.lines[j])...)
			if i < j {
				e.try("swap two records", i, e.swapped(i, j)...)
				e.try("move a record up", i, e.movedUp(i, j)...)
				e.try("move a record down", i, e.movedDown(i, j)...)
			}
		}
	}
	e.try(added, len(e.lines)-1, e.lines[len(e.lines)-1], e.forged(len(e.lines)))
	e.try("repeat the last record", len(e.lines)-1, e.lines[len(e.lines)-1], e.lines[len(e.lines)-1])
}

func (e *edits) swapped(i, j int) [][]byte {
	return e.rest(j+1, append(e.span(i+1, j, e.lines[j]), e.lines[i])...)
}

func (e *edits) movedUp(i, j int) [][]byte { return e.rest(j+1, e.span(i, j, e.lines[j])...) }

func (e *edits) movedDown(i, j int) [][]byte {
	return e.rest(j+1, append(e.span(i+1, j+1), e.lines[i])...)
}

// flips changes each bit of the bytes with a number that step divides, and of all bytes of the last line.
func (e *edits) flips(step int) {
	e.t.Helper()
	for i, line := range e.lines {
		changed := slices.Clone(line)
		rest := e.rest(i + 1)
		if i == len(e.lines)-1 {
			step = 1
		}
		for at := (step - e.at[i]%step) % step; at < len(line); at += step {
			for bit := range 8 {
				changed[at] ^= 1 << bit
				e.try("change a bit", i, append([][]byte{changed}, rest...)...)
				changed[at] ^= 1 << bit
			}
		}
	}
}

// thousand is a log of 1,000 records, in memory, and its newest checkpoint.
func thousand(t *testing.T) (*memDisk, *memNode, []byte) {
	t.Helper()
	o := testOptions(t)
	o.CheckpointCount = 50
	l := mustOpen(t, o)
	fill(t, l, 0, 489) // 978 records, one of the start, 20 of checkpoints, and one at the end
	mustClose(t, l)
	d, n := memCopy(t, o)
	if lines := bytes.Count(n.data, []byte("\n")); lines != 1000 {
		t.Fatalf("the log has %d records", lines)
	}
	kept, err := os.ReadFile(filepath.Join(o.Dir, CheckpointFile))
	if err != nil {
		t.Fatal(err)
	}
	return d, n, kept
}

// With a checkpoint that was published before, or with the checkpoint file beside the log, every edit of a
// log of 1,000 records is detected. Without both, the edits pass that the documentation lists.
func TestEveryEdit(t *testing.T) {
	t.Parallel()
	d, n, kept := thousand(t)
	lines, bits := 1, 1
	if thin() {
		lines, bits = 37, 499
	}
	missed := func(kind string, line int) {
		if kind != added {
			t.Errorf("%s at line %d: not detected", kind, line+1)
		}
	}
	for _, published := range []bool{true, false} {
		file := d.entries["/s/audit/"+CheckpointFile]
		if published {
			delete(d.entries, "/s/audit/"+CheckpointFile)
			e := newEdits(t, d, n, VerifyOptions{Checkpoint: kept})
			e.missed = missed
			e.all(lines)
			e.flips(bits)
			t.Logf("with a published checkpoint: %v", e.tried)
			n.data = e.whole
			d.entries["/s/audit/"+CheckpointFile] = file
			continue
		}
		e := newEdits(t, d, n, VerifyOptions{})
		e.missed = missed
		e.all(max(lines, 5))
		e.flips(max(bits, 31))
		n.data = e.whole
		delete(d.entries, "/s/audit/"+CheckpointFile)
		e = newEdits(t, d, n, VerifyOptions{})
		passed := map[string]int{}
		e.missed = func(kind string, line int) {
			if kind == "change a bit" && line != len(e.lines)-1 {
				t.Errorf("a bit of line %d: not detected", line+1)
			}
			passed[kind]++
		}
		e.all(max(lines, 5))
		e.flips(max(bits, 31))
		t.Logf("without any checkpoint: %v, of these pass: %v", e.tried, passed)
		documented(t, slices.Sorted(maps.Keys(passed)))
	}
}

// documented compares the kinds of edits that pass with the list of the documentation.
func documented(t *testing.T, passed []string) {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "audit-log.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(doc), "### Without a checkpoint from elsewhere\n")
	list, _, _ = strings.Cut(list, "\n#")
	var want []string
	for line := range strings.Lines(list) {
		if kind, ok := strings.CutPrefix(line, "| "); ok && !strings.HasPrefix(kind, "edit") {
			kind, _, _ = strings.Cut(kind, " |")
			want = append(want, kind)
		}
	}
	slices.Sort(want)
	if fmt.Sprint(passed) != fmt.Sprint(want) {
		t.Errorf("these edits pass: %q; the documentation has %q", passed, want)
	}
}
