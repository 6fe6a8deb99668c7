package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// record is one line, as far as it is checked.
type record struct {
	Seq      int64  `json:"seq"`
	Time     string `json:"time"`
	Kind     string `json:"kind"`
	Decision string `json:"decision_id"`
	Prev     string `json:"prev"`

	Size     int64    `json:"size"`     // of a checkpoint
	Note     string   `json:"note"`     // of a checkpoint
	Tree     []string `json:"tree"`     // of a checkpoint or a segment
	Break    bool     `json:"break"`    // of a recovery
	Accepted bool     `json:"accepted"` // of a recovery
	Reason   string   `json:"reason"`   // of a recovery
	Accepts  []int64  `json:"accepts"`  // of a recovery
	Pruned   []struct {
		Segment int    `json:"segment"`
		SHA256  string `json:"sha256"`
	} `json:"pruned"` // of a prune
}

func parseRecord(line []byte) (r record, err error) {
	r.Seq = -1
	if err = json.Unmarshal(line, &r); err == nil &&
		(r.Seq < 0 || r.Kind == "" || len(r.Prev) != 2*tlog.HashSize) {
		err = errors.New("not a record")
	}
	return r, err
}

// maxLine is more than any record of sallyport has, in bytes.
const maxLine = 16 << 20

// maxProblems is how many problems are printed; all are counted.
const maxProblems = 100

// logReader checks one log.
type logReader struct {
	dir      string
	keys     note.Verifiers
	out      io.Writer
	anchors  map[string]checkpoint // by where they come from
	tree     edge
	last     tlog.Hash
	at       string
	problems int
	records  int64
	signed   int64 // checkpoints that hold
	breaks   map[int64]string
	hashes   map[int]string // segments of which only hashes are left, and the digest of the whole
	missing  bool           // the first files are gone without their hashes
}

func (l *logReader) problem(format string, args ...any) {
	if l.problems++; l.problems <= maxProblems {
		fmt.Fprintf(l.out, "problem: %s: %s\n", l.at, fmt.Sprintf(format, args...))
	}
}

// verifyLog checks a whole log and prints what it found.
func verifyLog(a arguments, keys note.Verifiers, out io.Writer) (bool, error) {
	l := &logReader{dir: a.name, keys: keys, out: out, at: a.name, anchors: map[string]checkpoint{},
		breaks: map[int64]string{}, hashes: map[int]string{}}
	if err := l.readAnchors(a.checkpoint); err != nil {
		return false, err
	}
	numbers, err := l.segments()
	if err != nil {
		return false, err
	}
	for i, n := range numbers {
		if i == 0 && n > 1 {
			if l.missing = true; !a.allowPruned {
				l.problem("the files before number %d are gone without their hashes", n)
			}
		}
		if i > 0 && n != numbers[i-1]+1 {
			l.problem("file %d follows file %d", n, numbers[i-1])
		}
		if err := l.segment(n, i == len(numbers)-1); err != nil {
			return false, err
		}
	}
	l.at = a.name
	if len(numbers) == 0 {
		l.problem("no audit-*.jsonl here")
	}
	l.end()
	fmt.Fprintf(out, "records %d, checkpoints that hold %d, problems %d\n", l.records, l.signed, l.problems)
	if a.checkpoint == "" {
		fmt.Fprintln(out, "not proved: no checkpoint from elsewhere was given: "+
			"anyone with the key can write another log")
	}
	if l.problems == 0 {
		fmt.Fprintln(out, "ok")
	}
	return l.problems == 0, nil
}

// readAnchors reads the checkpoints with which the log must agree.
func (l *logReader) readAnchors(given string) error {
	for from, name := range map[string]string{"checkpoint file": filepath.Join(l.dir, "checkpoint"),
		"given checkpoint": given} {
		if name == "" {
			continue
		}
		limit := int64(maxSmall)
		if name == given {
			limit = maxProof // a file to which every checkpoint is appended
		}
		text, err := readFile(name, limit)
		if errors.Is(err, fs.ErrNotExist) && name != given {
			continue
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", from, err)
		}
		c, err := openCheckpoint(lastNote(string(text)), l.keys)
		if err != nil {
			l.problem("%s: %v", from, err)
			continue
		}
		l.anchors[from] = c
	}
	return nil
}

// segments lists the numbers of the files, in order, also of those of which only hashes are left.
func (l *logReader) segments() ([]int, error) {
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	var all []int
	for _, e := range entries {
		var n int
		for _, form := range []string{"audit-%06d.jsonl", "audit-%06d.hashes"} {
			if _, err := fmt.Sscanf(e.Name(), form, &n); err == nil && e.Name() == fmt.Sprintf(form, n) &&
				!slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	slices.Sort(all)
	torn, err := os.ReadDir(filepath.Join(l.dir, "torn"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read log: %w", err)
	}
	for _, e := range torn {
		if strings.HasSuffix(e.Name(), "-cut.json") {
			l.problem("torn/%s: a process found the log cut, and nobody accepted that", e.Name())
		}
	}
	return all, nil
}

// advance takes one leaf and compares the checkpoints over all records so far.
func (l *logReader) advance(leaf tlog.Hash) {
	l.tree.add(leaf)
	l.last = leaf
	for from, c := range l.anchors {
		if c.size == l.tree.size && c.root != l.tree.root() {
			l.problem("the %s over %d records has another root", from, c.size)
		}
	}
}

func (l *logReader) segment(n int, last bool) error {
	name := fmt.Sprintf("audit-%06d.jsonl", n)
	l.at = name
	f, err := os.Open(filepath.Join(l.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return l.pruned(n)
	}
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	defer f.Close() // read only: nothing can be lost
	in := bufio.NewReaderSize(f, 1<<20)
	for number := 1; ; number++ {
		l.at = fmt.Sprintf("%s:%d", name, number)
		line, err := readLine(in)
		switch {
		case errors.Is(err, io.EOF) && len(line) == 0:
			return nil
		case errors.Is(err, io.EOF) && last:
			fmt.Fprintf(l.out, "torn: %s: an incomplete last record of %d bytes\n", l.at, len(line))
			return nil
		case errors.Is(err, io.EOF):
			l.problem("the file ends within a record")
			return nil
		case err != nil:
			return fmt.Errorf("read %s: %w", l.at, err)
		}
		l.line(line, number == 1)
	}
}

func readLine(in *bufio.Reader) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("a line of more than %d bytes", maxLine)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSuffix(line, []byte("\n")), err
		}
	}
}

// line checks one record.
func (l *logReader) line(line []byte, first bool) {
	r, err := parseRecord(line)
	l.records++
	switch {
	case err != nil:
		l.problem("not a record")
		l.advance(tlog.RecordHash(line))
		return
	case first && l.records == 1 && l.missing:
		if l.tree, err = edgeOf(r.Seq, r.Tree); err != nil {
			l.problem("%v", err)
		}
	case r.Seq != l.tree.size:
		l.problem("record %d stands where %d belongs", r.Seq, l.tree.size)
	case r.Prev != hex.EncodeToString(l.last[:]):
		l.problem("record %d is not linked to the one before it", r.Seq)
	}
	if first != (r.Kind == "segment") {
		l.problem("segment records stand first in a file, and only there")
	}
	l.content(r)
	l.advance(tlog.RecordHash(line))
}

// content checks what records say of the log.
func (l *logReader) content(r record) {
	switch r.Kind {
	case "segment", "checkpoint":
		e, err := edgeOf(r.Seq, r.Tree)
		if err != nil || e.root() != l.tree.root() {
			l.problem("the tree of record %d is not that of the records before it", r.Seq)
		}
		if r.Kind == "segment" {
			return
		}
		c, err := openCheckpoint(r.Note, l.keys)
		switch {
		case err != nil:
			l.problem("checkpoint in record %d: %v", r.Seq, err)
		case c.size != r.Seq || r.Size != r.Seq || c.root != l.tree.root():
			l.problem("the checkpoint in record %d speaks of other records", r.Seq)
		default:
			l.signed++
		}
	case "recovery":
		if r.Break && !r.Accepted {
			l.breaks[r.Seq] = r.Reason
		}
		for _, seq := range r.Accepts {
			delete(l.breaks, seq)
		}
	case "prune":
		for _, p := range r.Pruned {
			if l.hashes[p.Segment] == p.SHA256 {
				delete(l.hashes, p.Segment)
			}
		}
	}
}

// pruned reads the hashes that are left of a file: a line of JSON, then 32 bytes for each record.
func (l *logReader) pruned(n int) error {
	name := fmt.Sprintf("audit-%06d.hashes", n)
	l.at = name
	f, err := os.Open(filepath.Join(l.dir, name))
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	defer f.Close() // read only: nothing can be lost
	in := bufio.NewReader(f)
	var head struct {
		First   int64  `json:"first"`
		Records int64  `json:"records"`
		SHA256  string `json:"sha256"`
	}
	line, err := readLine(in)
	if err != nil || json.Unmarshal(line, &head) != nil || head.First != l.tree.size {
		l.problem("the file does not go on from %d records", l.tree.size)
		return nil
	}
	l.hashes[n] = head.SHA256
	for range head.Records {
		var leaf tlog.Hash
		if _, err := io.ReadFull(in, leaf[:]); err != nil {
			l.problem("the file ends before its last hash")
			return nil
		}
		l.advance(leaf)
	}
	if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
		l.problem("there is more behind the last hash")
	}
	return nil
}

// end checks what only the whole log tells.
func (l *logReader) end() {
	for from, c := range l.anchors {
		if c.size > l.tree.size {
			l.problem("the log ends after %d records, but the %s speaks of %d", l.tree.size, from, c.size)
		}
	}
	for seq, reason := range l.breaks {
		l.problem("nobody accepted the break in record %d: %s", seq, reason)
	}
	for n := range l.hashes {
		l.problem("file %d was removed, and no record tells of that", n)
	}
	if l.signed == 0 && l.records > 0 {
		l.problem("no checkpoint of the log holds")
	}
}
