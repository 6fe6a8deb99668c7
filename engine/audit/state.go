package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/sallyport-dev/sallyport/engine"
)

// state is all that a writer must know of the log to append to it.
type state struct {
	segment int   // number of the newest file, from 1
	off     int64 // end of the last record in it
	lastOff int64 // start of the last record in it; equal to off when there is none
	last    tlog.Hash
	tree    tree
	since   int // records after the last checkpoint
}

func (s state) clone() state {
	s.tree = s.tree.clone()
	return s
}

// advance moves past one line, the newline not counted in length.
func (s *state) advance(length int, leaf tlog.Hash) {
	s.lastOff, s.off = s.off, s.off+int64(length)+1
	s.last = leaf
	s.tree.append(leaf)
	s.since++
}

func segmentName(n int) string { return fmt.Sprintf("audit-%06d.jsonl", n) }

// segmentsIn lists the numbers of the segments in dir, in order. A gap is an error of a break.
func segmentsIn(fsys fileSystem, dir string) ([]int, error) {
	names, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list audit directory: %w", err)
	}
	var out []int
	for _, name := range names {
		var n int
		if _, err := fmt.Sscanf(name, "audit-%d.jsonl", &n); err == nil && n > 0 && segmentName(n) == name {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	for i := 1; i < len(out); i++ {
		if out[i] != out[i-1]+1 {
			return out, &BreakError{File: segmentName(out[i-1] + 1),
				What: "the file is missing, while later ones are there"}
		}
	}
	return out, nil
}

// segmentBody is the body of the first record of each file. With the tree in it a log whose oldest
// files were removed can still be continued and verified from there.
type segmentBody struct {
	Format  int      `json:"format"`  // 1
	Segment int      `json:"segment"` // number of the file
	Origin  string   `json:"origin"`  // of checkpoints
	Key     string   `json:"key"`     // verifier key of checkpoints
	Host    string   `json:"host"`
	Agent   string   `json:"agent"`
	Version string   `json:"version"`
	Tree    []string `json:"tree"` // edge of the Merkle tree over all records before this one
}

// checkpointBody is the body of a checkpoint record: the records before it, signed.
type checkpointBody struct {
	Size int64    `json:"size"` // records before this one
	Note string   `json:"note"` // signed note
	Tree []string `json:"tree"` // edge of the Merkle tree, whose root the note has
}

// fullBody is the body of a full record, and the content of the file that keeps it while nothing can be added
// to the log.
type fullBody struct {
	Refused int64     `json:"refused"` // writes of decisions and approvals; their commands did not run
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
}

// recoveryBody is the body of a recovery record.
type recoveryBody struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // of the bytes that were moved away
	Saved  string `json:"saved"`  // where to, below the audit directory; "" for nothing
	Break  bool   `json:"break"`  // more than a torn tail: the log does not continue the records before
	// Accepted says that an operator told sallyport to go on after the break.
	Accepted bool   `json:"accepted"`
	Reason   string `json:"reason"`
	// Known is the end of the log as a running process knew it, where it found the log cut or replaced.
	Known *knownEnd `json:"known,omitempty"`
	// Accepts are the numbers of earlier records of breaks that an operator accepts with this record.
	Accepts []int64  `json:"accepts,omitempty"`
	Cuts    []string `json:"cuts,omitempty"` // files below torn/ that tell of cuts, accepted as well
	By      string   `json:"by,omitempty"`   // name of the accepting operator
	Why     string   `json:"why,omitempty"`
}

// knownEnd is the end of a log from the memory of a process.
type knownEnd struct {
	Size  int64    `json:"size"`  // records
	Last  string   `json:"last"`  // leaf hash of the last of them, hex
	Root  string   `json:"root"`  // of the Merkle tree over them, hex
	Lines []string `json:"lines"` // the last of them
}

// bodyOf decodes the body of a line into v, which names the members it wants.
func bodyOf(line []byte, v any) error { return json.Unmarshal(line, v) }

// checkpointIn reads and checks a checkpoint record: its note is signed by one of the keys, speaks
// of the records before it, and has the root of the tree beside it.
func checkpointIn(h head, line []byte, keys ...string) (Checkpoint, tree, error) {
	var b checkpointBody
	if err := bodyOf(line, &b); err != nil {
		return Checkpoint{}, tree{}, err
	}
	c, err := OpenCheckpoint([]byte(b.Note), keys...)
	if err != nil {
		return Checkpoint{}, tree{}, err
	}
	t, err := treeOf(b.Size, b.Tree)
	if err != nil {
		return Checkpoint{}, tree{}, err
	}
	if c.Size != h.seq || b.Size != h.seq || c.Root != t.root() {
		return Checkpoint{}, tree{}, errors.New("the note does not fit the record")
	}
	return c, t, nil
}

// treeIn reads the tree of a checkpoint record whose signature cannot be checked.
func treeIn(line []byte) (tree, error) {
	var b checkpointBody
	if err := bodyOf(line, &b); err != nil {
		return tree{}, err
	}
	return treeOf(b.Size, b.Tree)
}

// stateIn finds a place in a segment from which the log can be read on: after its last good
// checkpoint, or its first record. ok is false when the file has no complete first record.
func stateIn(f file, segment int, key string) (st state, ok bool, err error) {
	fi, err := f.Stat()
	if err != nil {
		return state{}, false, err
	}
	if st, ok, err := lastCheckpoint(f, fi.Size, key); ok || err != nil {
		st.segment = segment
		return st, ok, err
	}
	line, whole, err := newLineReader(f, 0, min(fi.Size, maxLine)).next()
	if err != nil || !whole {
		return state{}, false, nil // empty or torn: the caller looks at the file before it
	}
	h, good := isRecord(line)
	if !good {
		return state{}, false, nil
	}
	st, err = segmentStart(h, line)
	if err != nil {
		return state{}, false, &BreakError{File: segmentName(segment), Seq: h.seq, What: err.Error()}
	}
	st.segment = segment
	return st, true, nil
}

// segmentStart is the state before the first record of a segment.
func segmentStart(h head, line []byte) (state, error) {
	var b segmentBody
	if h.kind != string(engine.KindSegment) || bodyOf(line, &b) != nil {
		return state{}, errors.New("the first record of a file is not a segment record")
	}
	t, err := treeOf(h.seq, b.Tree)
	if err != nil {
		return state{}, err
	}
	return state{last: h.prev, tree: t}, nil
}

var checkpointMark = []byte(`","kind":"checkpoint","decision_id":"","writer":"`)

// lastCheckpoint searches a file backwards for a checkpoint record that holds. No text that a
// record quotes can look like the mark, because quotes in it are escaped.
func lastCheckpoint(f file, size int64, key string) (state, bool, error) {
	for window := int64(256 << 10); ; window *= 8 {
		from := max(0, size-window)
		buf := make([]byte, size-from)
		if n, err := f.ReadAt(buf, from); int64(n) < size-from {
			return state{}, false, err
		}
		for end := len(buf); ; {
			i := bytes.LastIndex(buf[:end], checkpointMark)
			if i < 0 {
				break
			}
			end = i
			start := bytes.LastIndexByte(buf[:i], '\n') + 1
			length := bytes.IndexByte(buf[i:], '\n')
			if length < 0 || (start == 0 && from > 0) {
				continue
			}
			line := buf[start : i+length]
			if h, ok := isRecord(line); ok {
				if _, t, err := checkpointIn(h, line, key); err == nil {
					st := state{off: from + int64(start), tree: t}
					st.advance(len(line), tlog.RecordHash(line))
					st.since = 0
					return st, true, nil
				}
			}
		}
		if from == 0 {
			return state{}, false, nil
		}
	}
}

// readAnchor reads the checkpoint file: the newest note, which also covers the last checkpoint
// record itself. ok is false where there is none yet.
func readAnchor(fsys fileSystem, dir string, keys ...string) (c Checkpoint, ok bool, err error) {
	b, err := readAll(fsys, filepath.Join(dir, CheckpointFile), maxNote)
	if errors.Is(err, fs.ErrNotExist) {
		return Checkpoint{}, false, nil
	}
	if err != nil {
		return Checkpoint{}, false, err
	}
	c, err = OpenCheckpoint(b, keys...)
	if err != nil {
		return Checkpoint{}, false, &BreakError{File: CheckpointFile,
			What: strings.TrimPrefix(err.Error(), "open checkpoint: ")}
	}
	return c, true, nil
}

// maxNote bounds a signed note, in bytes.
const maxNote = 64 << 10

// CheckpointFile is the name of the file in the directory of a log that holds its newest checkpoint.
const CheckpointFile = "checkpoint"

// addCheckpoint signs the records so far, and that record as well.
func (l *Log) addCheckpoint(st *state) (*nextAnchor, error) {
	c := Checkpoint{Origin: l.keys.signer.Name(), Size: st.tree.size, Root: st.tree.root()}
	msg, err := c.sign(l.keys.signer)
	if err != nil {
		return nil, err
	}
	p, err := l.ownPayload(engine.KindCheckpoint,
		checkpointBody{Size: c.Size, Note: string(msg), Tree: st.tree.hexes()})
	if err != nil {
		return nil, err
	}
	l.add(st, p)
	st.since = 0
	c = Checkpoint{Origin: c.Origin, Size: st.tree.size, Root: st.tree.root()}
	if msg, err = c.sign(l.keys.signer); err != nil {
		return nil, err
	}
	return &nextAnchor{Checkpoint: c, note: msg}, nil
}

// nextAnchor is the next content of the checkpoint file.
type nextAnchor struct {
	Checkpoint
	note []byte
	file *draft // nil before it is written
}

// sync makes a file durable, and the anchor beside it. The error is about the file.
func (a *nextAnchor) sync(l *Log, f file) error {
	if a == nil {
		return f.Sync()
	}
	a.file = begin(l.o.fs, l.path(CheckpointFile), a.note)
	if a.file.err != nil {
		a.file.close()
		return f.Sync()
	}
	err, failed := l.o.fs.SyncBoth(f, a.file.file)
	a.file.err = failed
	if err != nil {
		a.drop()
	}
	return err
}

// drop gives the anchor up.
func (a *nextAnchor) drop() {
	if a != nil && a.file != nil {
		a.file.close()
	}
}

// setAnchor replaces the checkpoint file. The records it speaks of are durable already, so a
// failure here does not make them fail: the note is tried again with the next checkpoint, and
// verify falls back to the one before.
func (l *Log) setAnchor(next *nextAnchor) error {
	err := next.file.place()
	if err == nil {
		l.anchor = next.Checkpoint
	}
	if l.o.Checkpoint != nil {
		l.o.Checkpoint(next.note)
	}
	return err
}
