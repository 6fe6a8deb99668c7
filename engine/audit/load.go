package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/redact"
)

// load finds the end of the log on disk. The caller holds the lock.
func (l *Log) load() error {
	segments, gap := segmentsIn(l.o.fs, l.o.Dir)
	if gap != nil {
		if !errors.Is(gap, ErrTampered) {
			return gap
		}
		if !l.passes(gap) {
			return refusal(gap)
		}
	}
	if err := l.loadKeys(len(segments) > 0); err != nil {
		return err
	}
	l.red = redact.New(l.keys.redact, l.o.Redact)
	var err error
	if l.anchor, _, err = readAnchor(l.o.fs, l.o.Dir, l.keys.public); err != nil && !l.rekeyed {
		if err = l.breakAt(err); err != nil {
			return err
		}
	}
	if gap != nil {
		if segments, err = l.closeGap(segments, gap); err != nil {
			return err
		}
	}
	if err := l.findStart(segments); err != nil {
		return err
	}
	if err := l.catchUp(); err != nil {
		return err
	}
	l.loadRefused()
	return l.checkAnchor()
}

// loadKeys reads the keys. A log that has records but no signing key is continued with a new one only when an
// operator accepts that; its checkpoints so far are then compared with their trees alone.
func (l *Log) loadKeys(records bool) error {
	sign, _, _ := keyPaths(l.o.Dir)
	_, old := l.o.fs.Lstat(sign)
	var err error
	l.keys, err = loadKeys(&l.o, !records)
	if err == nil && old == nil && !records && !l.keys.unused {
		// A removed log must not be followed by one that looks like the first.
		return l.noteRecovery(recoveryBody{Break: true,
			Reason: "the signing key is older than the log: what it signed before is not here"})
	}
	if !errors.Is(err, ErrNoKey) {
		return err
	}
	if !l.passes(err) {
		return refusal(err)
	}
	lost := err
	if l.keys, err = loadKeys(&l.o, true); err != nil {
		return err
	}
	l.rekeyed = true
	return l.noteBreak(recoveryBody{Reason: "the signing key was lost; a new one signs from here on"}, lost)
}

// announceKey writes the public key beside the log, once records are durable: a key that is there without a
// log says that somebody removed the log.
func (l *Log) announceKey() error {
	if !l.keys.unused {
		return nil
	}
	_, public, _ := keyPaths(l.o.Dir)
	if err := replace(l.o.fs, public, []byte(l.keys.public+"\n")); err != nil {
		return fmt.Errorf("write public key: %w", err)
	}
	l.keys.unused = false
	return nil
}

// findStart sets l.st and l.seg to a place near the end from which the rest can be read.
func (l *Log) findStart(segments []int) error {
	for _, n := range slices.Backward(segments) {
		f, err := openChecked(l.o.fs, l.path(segmentName(n)), os.O_RDWR)
		if err != nil {
			return fmt.Errorf("open audit log: %w", err)
		}
		st, ok, err := stateIn(f, n, l.keys.public)
		if err == nil && ok {
			l.st, l.seg = st, f
			if st.tree.size <= l.anchor.Size {
				l.sure = st.off // notes in the checkpoint file are of synced records
			}
			return nil
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("open audit log: %w", err)
		}
	}
	first := 1
	if len(segments) > 0 {
		first = segments[0]
	}
	f, err := openChecked(l.o.fs, l.path(segmentName(first)), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return fmt.Errorf("create audit log: %w", err)
	}
	l.st, l.seg = state{segment: first}, f
	return nil
}

// catchUp reads the records that other processes, or a process that died, have added.
func (l *Log) catchUp() error {
	for {
		_, err := l.o.fs.Lstat(l.path(segmentName(l.st.segment + 1)))
		more := err == nil
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read audit log: %w", err)
		}
		fi, err := l.seg.Stat()
		if err != nil {
			return fmt.Errorf("read audit log: %w", err)
		}
		if fi.Size < l.st.off {
			return &BreakError{File: segmentName(l.st.segment), Offset: fi.Size, Seq: l.st.tree.size,
				What: "the file has become shorter"}
		}
		if fi.Size > l.st.off {
			if err := l.ingest(fi.Size, more); err != nil {
				return err
			}
		}
		if !more {
			return nil
		}
		if _, err := l.o.fs.Lstat(l.path(segmentName(l.st.segment + 1))); errors.Is(err, fs.ErrNotExist) {
			return nil // an accepted break moved it away
		}
		f, err := openChecked(l.o.fs, l.path(segmentName(l.st.segment+1)), os.O_RDWR)
		if err != nil {
			return fmt.Errorf("read audit log: %w", err)
		}
		if err := errors.Join(l.settle(), l.drop()); err != nil {
			return errors.Join(fmt.Errorf("read audit log: %w", err), f.Close())
		}
		l.seg, l.sure = f, 0
		l.st.segment, l.st.off, l.st.lastOff = l.st.segment+1, 0, 0
	}
}

// ingest reads the records from the end that is known to the end of the file, checking each.
func (l *Log) ingest(size int64, more bool) error {
	r := newLineReader(l.seg, l.st.off, size)
	for {
		line, whole, err := r.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read audit log: %w", err)
		}
		what := l.accept(r, line, whole)
		if what == "" {
			continue
		}
		broken := &BreakError{File: segmentName(l.st.segment), Offset: l.st.off, Seq: l.st.tree.size, What: what}
		later, err := hasRecord(l.seg, l.st.off, size)
		if err != nil {
			return fmt.Errorf("read audit log: %w", err)
		}
		if later || more {
			return l.breakAt(broken)
		}
		return l.cutTail(size, nil)
	}
}

// accept moves past a line that continues the log and says why another does not.
func (l *Log) accept(r *lineReader, line []byte, whole bool) string {
	if !whole {
		return "a record without its end"
	}
	h, ok := isRecord(line)
	switch {
	case !ok:
		return "not a record"
	case h.seq != l.st.tree.size:
		return fmt.Sprintf("record %d stands here", h.seq)
	case h.prev != l.st.last:
		return "the record is not linked to the one before it"
	case (h.kind == string(engine.KindSegment)) != (l.st.off == 0):
		return "segment records stand first in a file, and only there"
	}
	if h.kind == string(engine.KindCheckpoint) {
		_, t, err := checkpointIn(h, line, l.keys.public)
		if l.rekeyed && err != nil {
			t, err = treeIn(line)
		}
		if err != nil {
			return err.Error()
		}
		if t.root() != l.st.tree.root() {
			return "the checkpoint speaks of other records"
		}
	}
	l.st.advance(len(line), r.leaf(line))
	if h.kind == string(engine.KindCheckpoint) {
		l.st.since = 0
	}
	l.keep(line)
	if l.st.tree.size == l.anchor.Size {
		if l.st.tree.root() != l.anchor.Root {
			return "the checkpoint file speaks of other records"
		}
		l.sure = max(l.sure, l.st.off)
	}
	return ""
}

// hasRecord says whether a whole record stands anywhere in a part of a file. A crash can leave
// half a record at the end, never a whole one that does not fit.
func hasRecord(f file, from, to int64) (bool, error) {
	r := newLineReader(f, from, to)
	for {
		line, whole, err := r.next()
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if _, ok := isRecord(line); ok && whole {
			return true, nil
		}
	}
}
