package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/sallyport-dev/sallyport/engine"
)

// prunedFile is the log's remainder of a file that was pruned: the first line of its .hashes file, behind
// which the leaf hash of each record stands, 32 bytes each. A prune record has the same.
type prunedFile struct {
	Segment int       `json:"segment"`
	First   int64     `json:"first"`   // number of its first record
	Records int64     `json:"records"` // how many it had
	Bytes   int64     `json:"bytes"`
	SHA256  string    `json:"sha256"` // of the whole file, for who finds it in an archive
	Last    time.Time `json:"last"`   // time of its newest record
}

// pruneBody is the body of a prune record.
type pruneBody struct {
	Pruned []prunedFile `json:"pruned"` // all files of which only hashes are left
	Open   []string     `json:"open"`   // decisions in them whose outcomes may stand in later files
	By     string       `json:"by"`
}

// hashesSuffix ends the names of files of hashes.
const hashesSuffix = ".hashes"

func hashesName(segment int) string {
	name := segmentName(segment)
	return name[:len(name)-len(filepath.Ext(name))] + hashesSuffix
}

// prunedIn lists the numbers of the files of which only hashes are left.
func prunedIn(fsys fileSystem, dir string) ([]int, error) {
	names, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list audit directory: %w", err)
	}
	var out []int
	for _, name := range names {
		var n int
		if _, err := fmt.Sscanf(name, "audit-%d"+hashesSuffix, &n); err == nil && n > 0 && hashesName(n) == name &&
			!slices.Contains(names, segmentName(n)) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, nil
}

// hashesIn reads a file of hashes. An error is the last thing that it yields.
func hashesIn(fsys fileSystem, dir string, segment int) (prunedFile, iter.Seq2[tlog.Hash, error], error) {
	f, err := fsys.OpenFile(filepath.Join(dir, hashesName(segment)), os.O_RDONLY, 0)
	if err != nil {
		return prunedFile{}, nil, err
	}
	text, p, err := hashesOfFile(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return p, nil, fmt.Errorf("read %s: %w", hashesName(segment), err)
	}
	return p, func(yield func(tlog.Hash, error) bool) {
		for b := range slices.Chunk(text, tlog.HashSize) {
			if !yield(tlog.Hash(b), nil) {
				return
			}
		}
	}, nil
}

func hashesOfFile(f file) (text []byte, p prunedFile, err error) {
	fi, err := f.Stat()
	if err != nil {
		return nil, p, err
	}
	text, err = io.ReadAll(io.NewSectionReader(f, 0, fi.Size))
	if err != nil {
		return nil, p, err
	}
	head, text, _ := bytes.Cut(text, []byte("\n"))
	if err := json.Unmarshal(head, &p); err != nil {
		return nil, p, err
	}
	if again, err := json.Marshal(p); err != nil || !bytes.Equal(again, head) {
		return nil, p, fmt.Errorf("%w: its first line is not as it was written", ErrTampered)
	}
	if int64(len(text)) != p.Records*tlog.HashSize {
		return nil, p, fmt.Errorf("%w: it does not have %d hashes", ErrTampered, p.Records)
	}
	return text, p, nil
}

// Pruned lists the files that Prune removed.
type Pruned struct {
	Files   int   `json:"files"`
	Records int64 `json:"records"`
	Bytes   int64 `json:"bytes"`
}

// Prune removes the oldest files of the log in o.Dir whose records are all from before a time, and leaves
// their hashes, so that the rest verifies, and has proofs, as before. It never removes the newest file. A
// record names the files and the user that pruned them; it is signed before anything is removed. A log
// that does not verify is not pruned.
func Prune(o Options, before time.Time, by string) (Pruned, error) {
	var done Pruned
	if err := o.complete(); err != nil {
		return done, err
	}
	r, err := verify(o.fs, o.Dir, VerifyOptions{})
	if err != nil {
		return done, err
	}
	if !r.OK {
		return done, fmt.Errorf("prune audit log: it does not verify: find out why first: sallyport audit verify")
	}
	o.CheckpointEvery = -1 // only the prune record is written
	l, err := Open(o)
	if err != nil {
		return done, err
	}
	body, fresh, err := l.condense(before)
	body.By = by
	if err == nil && len(fresh) > 0 {
		var p payload
		if p, err = l.ownPayload(engine.KindPrune, body); err == nil {
			err = whole(p)
		}
		if err == nil {
			err = l.enqueue(&request{records: []payload{p}, sign: true, result: make(chan error, 1)})
		}
		if err == nil {
			done, err = l.remove(fresh)
		}
	}
	if err != nil {
		err = fmt.Errorf("prune audit log: %w", err)
	}
	return done, errors.Join(err, l.Close())
}

// whole refuses a prune record of which a part was cut off: the files that it leaves out would be missing.
func whole(p payload) error {
	if bytes.Contains(p.body, []byte(`,"cut":[`)) {
		return errors.New("too many files and open decisions for one record: archive the log and begin a new one")
	}
	return nil
}

// remove removes the files one after the other, the oldest first, so that no crash leaves a gap. No process
// reads the log for its next record meanwhile.
func (l *Log) remove(files []prunedFile) (done Pruned, err error) {
	if err := l.acquire(l.o.LockWait); err != nil {
		return done, err
	}
	defer l.release()
	for _, f := range files {
		err := l.o.fs.Remove(l.path(segmentName(f.Segment)))
		if err == nil {
			err = l.o.fs.SyncDir(l.o.Dir)
		}
		if err != nil {
			return done, err
		}
		done.Files, done.Records, done.Bytes = done.Files+1, done.Records+f.Records, done.Bytes+f.Bytes
	}
	return done, nil
}

// condense writes the hashes of the files that are old enough, and returns the text of the prune record, and
// the files that are new in it.
func (l *Log) condense(before time.Time) (body pruneBody, fresh []prunedFile, err error) {
	old, err := prunedIn(l.o.fs, l.o.Dir)
	if err != nil {
		return body, nil, err
	}
	for _, n := range old {
		p, _, err := hashesIn(l.o.fs, l.o.Dir, n)
		if err != nil {
			return body, nil, err
		}
		body.Pruned = append(body.Pruned, p)
	}
	segments, err := segmentsIn(l.o.fs, l.o.Dir)
	if err != nil {
		return body, nil, err
	}
	// The books of the verifier know which decisions are open at the end of a file.
	v := &verifier{dir: l.o.Dir, fs: l.o.fs, open: map[string]place{}, granted: map[string]bool{},
		hosted: map[string]bool{}, excused: map[string]bool{}}
	for e, err := range Read(l.o.Dir, Filter{Kind: engine.KindPrune}) {
		var b pruneBody
		if err == nil && bodyOf(e.Raw, &b) == nil {
			for _, id := range b.Open {
				v.open[id] = place{}
			}
		}
	}
	open := map[string]bool{} // at the end of each file: a crash may leave those behind it
	for _, n := range segments[:max(0, len(segments)-1)] {
		p, leaves, err := l.digest(n)
		if err != nil {
			return body, nil, err
		}
		if !p.Last.Before(before) {
			break
		}
		if err := v.segment(segmentPart{n, p.Bytes}, false); err != nil {
			return body, nil, err
		}
		head, err := json.Marshal(p)
		if err != nil {
			return body, nil, err
		}
		if err := writeNew(l.o.fs, l.path(hashesName(n)), slices.Concat(head, []byte("\n"), leaves)); err != nil {
			return body, nil, err
		}
		body.Pruned, fresh = append(body.Pruned, p), append(fresh, p)
		for id := range v.open {
			open[id] = true
		}
		for id := range v.granted {
			open[id] = true
		}
		for id := range v.hosted {
			open[id] = true
		}
	}
	body.Open = slices.Sorted(maps.Keys(open))
	return body, fresh, nil
}

// digest reads a whole file.
func (l *Log) digest(segment int) (p prunedFile, leaves []byte, err error) {
	f, err := openChecked(l.o.fs, l.path(segmentName(segment)), os.O_RDONLY)
	if err != nil {
		return p, nil, err
	}
	defer f.Close() // read only: nothing can be lost
	fi, err := f.Stat()
	if err != nil {
		return p, nil, err
	}
	p = prunedFile{Segment: segment, Bytes: fi.Size}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, fi.Size)); err != nil {
		return p, nil, err
	}
	p.SHA256 = hex.EncodeToString(sum.Sum(nil))
	for r := newLineReader(f, 0, fi.Size); ; {
		line, whole, err := r.next()
		if errors.Is(err, io.EOF) {
			return p, leaves, nil
		}
		if err != nil {
			return p, nil, err
		}
		e, err := entryOf(line)
		if err != nil || !whole {
			return p, nil, fmt.Errorf("read %s: not a record: %w", segmentName(segment), ErrTampered)
		}
		if p.Records == 0 {
			p.First = e.Seq
		}
		leaf := r.leaf(line)
		leaves = append(leaves, leaf[:]...)
		if p.Records++; e.Time.After(p.Last) { // the last record is not the newest where the clock was set back
			p.Last = e.Time
		}
	}
}

// passPruned moves past a file that was pruned since this process read it. It reports whether there was one:
// that its hashes go on from the last known record shows that it is the same.
func (l *Log) passPruned() (bool, error) {
	p, leaves, err := hashesIn(l.o.fs, l.o.Dir, l.st.segment)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	at, st := p.First, l.st.clone()
	for leaf, err := range leaves {
		if err != nil {
			return false, err
		}
		if at == st.tree.size-1 && leaf != st.last {
			return false, &BreakError{File: hashesName(p.Segment), Seq: at,
				What: "it has another hash than the record that was written"}
		}
		if at == st.tree.size {
			st.advance(0, leaf)
		}
		at++
	}
	if st.tree.size != p.First+p.Records {
		return false, &BreakError{File: hashesName(p.Segment), Seq: p.First,
			What: "it does not go on from the records that are known"}
	}
	st.segment, st.off, st.lastOff = p.Segment+1, 0, 0
	f, err := openChecked(l.o.fs, l.path(segmentName(st.segment)), os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		l.st = st
		return l.passPruned()
	}
	if err != nil {
		return false, err
	}
	if err := l.drop(); err != nil {
		return false, errors.Join(err, f.Close())
	}
	l.st, l.seg, l.sure = st, f, 0
	return true, nil
}
