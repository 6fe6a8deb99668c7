package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/sallyport-dev/sallyport/engine"
)

// VerifyOptions are the references that a log is compared with.
type VerifyOptions struct {
	// Checkpoint is a signed note that was kept elsewhere; nil for none. Only such a note shows
	// that a log was rewritten as a whole by somebody who has its key.
	Checkpoint []byte
	// Published are the notes of places to which checkpoints are published.
	Published []Published
	// PublicKey is one or more verifier keys, one a line; "" for the one beside the log, which
	// proves less, because a user with write access to the log may exchange it too.
	PublicKey string
	// AllowPruned accepts that the oldest files are gone. Their contents are not verified.
	AllowPruned bool
}

// Published are notes of one place, the newest first. The first that is signed by the log's key counts.
type Published struct {
	Place  string
	Notes  [][]byte
	Beside bool // they lie beside the log: its writer can put older ones in their place
}

// maxProblems bounds the report on a log that is broken all over; the total is counted.
const maxProblems = 100

// Verify reads the whole log in dir and checks every link, every checkpoint and the order of
// decisions and outcomes. It needs memory for the decisions that are open at one time, not for the
// log. An error says that the log could not be read; its problems stand in the report.
func Verify(dir string, o VerifyOptions) (Report, error) { return verify(osFS{}, dir, o) }

func verify(fsys fileSystem, dir string, o VerifyOptions) (Report, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Report{}, fmt.Errorf("verify audit log: %w", err)
	}
	v := verifier{dir: dir, fs: fsys, open: map[string]place{}, granted: map[string]bool{},
		hosted: map[string]bool{}, removed: map[int]prunedFile{}, excused: map[string]bool{}}
	if err := v.prepare(o); err != nil {
		return Report{}, fmt.Errorf("verify audit log: %w", err)
	}
	for _, n := range v.hashed {
		if err := v.prunedFile(n); err != nil {
			return Report{}, fmt.Errorf("verify audit log: %w", err)
		}
	}
	for i, s := range v.segments {
		if err := v.segment(s, i == len(v.segments)-1); err != nil {
			return Report{}, fmt.Errorf("verify audit log: %w", err)
		}
	}
	v.finish()
	return v.r, nil
}

type verifier struct {
	dir      string
	fs       fileSystem
	keys     []string
	segments []segmentPart
	anchors  []anchor
	st       state
	line     int // in the present file
	tail     []tailLine
	r        Report
	last     []byte             // time of the last record
	newest   time.Time          // the latest time of a record
	covered  int64              // records under the newest checkpoint that holds
	given    bool               // a checkpoint from elsewhere was compared
	noted    bool               // there is a checkpoint file
	shift    int64              // by how much the numbers of records have gone wrong so far
	hashed   []int              // files of which only hashes are left
	removed  map[int]prunedFile // these, as long as no prune record has them
	excused  map[string]bool    // decisions that were open in them
	unasked  []string           // outcomes of decisions that may have stood in them
	open     map[string]place   // decisions that allow and have no outcome yet
	hosted   map[string]bool    // those of hooks: their hosts may run them, and may tell no outcome
	granted  map[string]bool    // those that wait for an approval: not open until it is given
}

// segmentPart is a file up to the size that it had when verification began.
type segmentPart struct {
	number int
	size   int64
}

// anchor is a signed note that the log must agree with.
type anchor struct {
	Checkpoint
	from string // where it came from, for the report
}

// place is where a decision stands, so that it can be read again if its outcome never comes.
type place struct {
	segment int
	off     int64
	length  int
}

// tailLine is a line after the last checkpoint, which no hash covers yet.
type tailLine struct {
	off    int64
	length int
	line   int
	seq    int64
}

func (v *verifier) problem(file string, line int, seq int64, what string) {
	v.r.ProblemCount++
	if len(v.r.Problems) < maxProblems {
		v.r.Problems = append(v.r.Problems, Problem{File: file, Line: line, Seq: seq, What: what})
	}
}

func (v *verifier) here(what string) {
	v.problem(segmentName(v.st.segment), v.line, v.st.tree.size, what)
}

// segment checks one file.
func (v *verifier) segment(s segmentPart, last bool) error {
	name := segmentName(s.number)
	f, err := v.fs.OpenFile(filepath.Join(v.dir, name), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close() // read only: nothing can be lost
	v.st.segment, v.st.off, v.st.lastOff, v.line = s.number, 0, 0, 0
	v.tail = v.tail[:0]
	r := newLineReader(f, 0, s.size)
	for {
		line, whole, err := r.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		v.line++
		if !whole {
			if !last {
				v.here("the file ends within a record, but another follows")
			} else {
				v.r.Torn = s.size - v.st.off
			}
			break
		}
		v.check(r, line)
	}
	return v.checkTail(f, name)
}

// check judges one whole line and moves past it, broken or not, so that the part after a break is
// still looked at.
func (v *verifier) check(r *lineReader, line []byte) {
	h, ok := parseHead(line)
	leaf := r.leaf(line)
	if !ok || !clean(line) {
		v.here("not a record")
		v.st.advance(len(line), leaf)
		return
	}
	if v.r.Records == 0 {
		v.begin(h, line)
	}
	switch shift := h.seq - v.st.tree.size; {
	case shift != v.shift: // told once: all that follows is shifted with it
		v.shift = shift
		v.here(fmt.Sprintf("record %d stands here: records were removed, added or moved", h.seq))
	case h.prev != v.st.last:
		v.here("the record is not linked to the one before it: one of the two was changed")
	}
	if (h.kind == string(engine.KindSegment)) != (v.st.off == 0) {
		v.here("segment records stand first in a file, and only there")
	}
	if v.r.Records == 0 {
		v.r.First = string(h.time)
	}
	v.r.Records++
	v.last = append(v.last[:0], h.time...)
	v.time(h)
	off := v.st.off
	v.count(h, line, place{v.st.segment, off, len(line)})
	v.st.advance(len(line), leaf)
	v.tail = append(v.tail, tailLine{off, len(line), v.line, h.seq})
	if h.kind == string(engine.KindCheckpoint) && len(v.keys) > 0 {
		v.tail = v.tail[:0]
	}
	if len(v.tail) > 4*defaultCount {
		v.tail = slices.Delete(v.tail, 0, 2*defaultCount)
	}
	for _, a := range v.anchors {
		if a.Size == v.st.tree.size {
			v.compare(a)
		}
	}
}

// begin takes over the tree from the first record of a log whose oldest files are gone.
func (v *verifier) begin(h head, line []byte) {
	segment := v.st.segment
	if h.seq == 0 || segment == 1 || v.st.tree.size > 0 {
		return
	}
	st, err := segmentStart(h, line)
	if err != nil {
		v.here(err.Error())
		return
	}
	v.st = st
	v.st.segment = segment
	v.r.Pruned = h.seq
	for _, a := range v.anchors {
		if a.Size < h.seq {
			v.problem(
				"", 0, a.Size, fmt.Sprintf("the %s speaks of %d records, which lie before the first file that is left",
					a.from, a.Size))
		}
	}
}

// prunedFile takes the hashes of a file in place of its records.
func (v *verifier) prunedFile(n int) error {
	p, leaves, err := hashesIn(v.fs, v.dir, n)
	if errors.Is(err, ErrTampered) || err == nil && p.First != v.st.tree.size {
		v.problem(hashesName(n), 0, v.st.tree.size, "it does not have the hashes of the records that belong there")
		return nil
	}
	if err != nil {
		return err
	}
	v.removed[n] = p
	for leaf, err := range leaves {
		if err != nil {
			return err
		}
		v.st.advance(0, leaf)
		for _, a := range v.anchors {
			if a.Size == v.st.tree.size {
				v.compare(a)
			}
		}
	}
	v.r.Pruned = v.st.tree.size
	return nil
}

func (v *verifier) compare(a anchor) {
	if v.st.tree.root() != tlog.Hash(a.Root) {
		v.here(fmt.Sprintf("the %s over %d records has another root: some record before it was changed", a.from,
			a.Size))
		return
	}
	v.r.Checkpoints++
	v.covered = max(v.covered, a.Size)
}

// checkTail parses the lines after the last checkpoint of a file. Only there is a record that no
// hash covers, so only there it can be damaged and still be linked.
func (v *verifier) checkTail(f file, name string) error {
	for _, t := range v.tail {
		b := make([]byte, t.length)
		if _, err := f.ReadAt(b, t.off); err != nil {
			return err
		}
		if _, ok := isRecord(b); !ok {
			v.problem(name, t.line, t.seq, "not a record")
		}
	}
	return nil
}

// prepare collects keys, anchors and the extent of the log. It holds the log's lock for a moment,
// so that it does not see half a batch of a writer that is at work.
func (v *verifier) prepare(o VerifyOptions) error {
	v.r.Dir = v.dir
	unlock, err := v.snapshotLock()
	if err != nil {
		return err
	}
	defer unlock()
	numbers, err := segmentsIn(v.fs, v.dir)
	if err != nil && !errors.Is(err, ErrTampered) {
		return err
	}
	if err != nil {
		v.problem("", 0, 0, err.Error())
	}
	if v.hashed, err = prunedIn(v.fs, v.dir); err != nil {
		return err
	}
	for _, n := range numbers {
		fi, err := v.fs.Lstat(filepath.Join(v.dir, segmentName(n)))
		if err != nil {
			return err
		}
		v.segments = append(v.segments, segmentPart{n, fi.Size})
	}
	v.r.Segments = len(v.segments)
	if len(v.segments) == 0 {
		v.problem("", 0, 0, "no audit-*.jsonl here")
	} else if first, left := v.segments[0].number, len(v.hashed); first > 1 && !o.AllowPruned &&
		(left != first-1 || v.hashed[0] != 1) {
		v.problem(
			segmentName(1), 0, 0, fmt.Sprintf(
				"the files before %s are missing: if they were removed on purpose, say so with --allow-pruned",
				segmentName(first)))
	}
	cuts, err := cutsIn(v.fs, v.dir)
	if err != nil {
		return err
	}
	for _, b := range cuts {
		v.problem(b.File, 0, 0, "a process found the log cut: "+b.unaccepted())
	}
	v.readKeys(o.PublicKey)
	v.r.Loose = looseParents(v.fs, v.dir)
	return v.readAnchors(o.Checkpoint, o.Published)
}

func (v *verifier) snapshotLock() (unlock func(), err error) {
	f, err := v.fs.OpenFile(filepath.Join(v.dir, "lock"), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return func() {}, nil // a copy of a log, or one that only may be read
	}
	if err != nil {
		return nil, err
	}
	if err := lockFor(f, patience{defaultLockWait, time.After, movement(v.fs, v.dir)}); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil // closing frees the lock; nothing was written
}

func (v *verifier) readKeys(given string) {
	if given == "" {
		var err error
		if given, err = publicKey(v.fs, v.dir); errors.Is(err, fs.ErrNotExist) &&
			!slices.ContainsFunc(v.segments, func(s segmentPart) bool { return s.size > 0 }) {
			return // nothing was signed yet
		} else if err != nil {
			v.problem("", 0, 0, "no public key beside the log: give one with --public-key")
			return
		}
		v.r.KeyFromLog = true
	} else {
		v.r.KeyGiven = true
	}
	for k := range strings.Lines(given) {
		if k = strings.TrimSpace(k); k != "" {
			v.keys = append(v.keys, k)
		}
	}
}

func (v *verifier) readAnchors(given []byte, published []Published) error {
	if len(v.keys) == 0 {
		return nil
	}
	c, ok, err := readAnchor(v.fs, v.dir, v.keys...)
	var broken *BreakError
	switch {
	case errors.As(err, &broken):
		v.problem(CheckpointFile, 0, 0, broken.What)
	case err != nil:
		return err
	case ok:
		v.noted = true
		v.anchors = append(v.anchors, anchor{c, "checkpoint file"})
	}
	if given != nil {
		c, err := OpenCheckpoint(given, v.keys...)
		if err != nil {
			return err
		}
		v.given = true
		v.anchors = append(v.anchors, anchor{c, "given checkpoint"})
	}
	for _, p := range published {
		for _, n := range p.Notes {
			c, err := OpenCheckpoint(n, v.keys...)
			if err != nil {
				continue // another log's, or an earlier key's
			}
			v.given = v.given || !p.Beside
			v.anchors = append(v.anchors, anchor{c, "checkpoint at " + p.Place})
			v.r.Compared = append(v.r.Compared, p.Place)
			break
		}
	}
	return nil
}
