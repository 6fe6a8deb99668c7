package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/sallyport-dev/sallyport/engine"
)

// process brings one batch to the disk and answers its requests.
func (l *Log) process(batch []*request, checkpoint bool) {
	last, others := split(batch)
	err := l.acquire(l.o.LockWait)
	if errors.Is(err, errBusy) && len(last) > 0 {
		answer(others, err)
		batch, others = last, nil
		err = l.acquire(lastWaits * l.o.LockWait)
	}
	if err != nil {
		answer(batch, err)
		return
	}
	defer l.release()
	if err := l.ready(); err != nil {
		if !l.noteCut(err) {
			answer(batch, err)
			return
		}
		answer(others, err)
		batch, others = last, nil
	}
	if len(others) > 0 {
		if err := l.keepReserve(); err != nil {
			l.noteFull(others, err)
			answer(others, err)
			batch = last
		}
	}
	if len(batch) == 0 && !checkpoint {
		return
	}
	err = l.write(batch, checkpoint)
	var stands standing
	if errors.As(err, &stands) { // written once, they are not written again
		last, others = split(batch)
		if isFull(err) {
			err = fmt.Errorf("%w: %w", ErrFull, err)
			l.noteFull(others, err)
		}
		answer(others, err)
		answer(last, nil)
		return
	}
	if isFull(err) {
		err = fmt.Errorf("%w: %w", ErrFull, err)
		l.noteFull(others, err)
		if len(last) < len(batch) {
			answer(others, err)
			batch = last
		}
		if len(batch) > 0 {
			if err = l.writeLast(batch); errors.As(err, &stands) {
				err = nil
			}
		}
	}
	answer(batch, err)
}

// standing is the error of a batch with durable records: a later step failed. No command may start on it;
// outcomes in the batch count as recorded.
type standing struct{ error }

func (s standing) Unwrap() error { return s.error }

// lastWaits is how many times longer than others a record of a past event waits for the lock.
const lastWaits = 30

// writeLast writes the outcomes of finished commands into the space that was set aside for them.
func (l *Log) writeLast(batch []*request) error {
	if err := l.freeReserve(); err != nil {
		return err
	}
	if err := l.ready(); err != nil {
		return err
	}
	return l.write(batch, false)
}

func answer(batch []*request, err error) {
	for _, r := range batch {
		r.result <- err
	}
}

// split tells the records that may use the reserve, because their events have happened, from
// those without which nothing happens.
func split(batch []*request) (last, others []*request) {
	for _, r := range batch {
		if r.past() {
			last = append(last, r)
		} else {
			others = append(others, r)
		}
	}
	return last, others
}

// ready makes sure, under the lock, that l.st is the end of the log and l.seg its newest file.
func (l *Log) ready() error {
	if l.seg == nil {
		if err := l.reopen(); err != nil {
			return err
		}
	}
	err := l.inPlace()
	if err == nil {
		err = l.holdsLast(l.seg)
	}
	if err != nil {
		return errors.Join(err, l.drop())
	}
	if err := l.catchUp(); err != nil {
		return errors.Join(err, l.drop())
	}
	return nil
}

// drop gives up the open file; the next batch opens and checks it anew.
func (l *Log) drop() error {
	if l.seg == nil {
		return nil
	}
	err := l.seg.Close()
	l.seg = nil
	return err
}

// inPlace notices a file that was deleted, moved or replaced while it was open: data written to
// it would be seen by nobody.
func (l *Log) inPlace() error {
	name := segmentName(l.st.segment)
	ours, err := l.seg.Stat()
	if err != nil {
		return fmt.Errorf("write audit log: %w", err)
	}
	there, err := l.o.fs.Lstat(l.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		if passed, err := l.passPruned(); passed || err != nil {
			return err
		}
	}
	if errors.Is(err, fs.ErrNotExist) || (ownersKnown && err == nil &&
		(ours.Nlink == 0 || ours.ID != there.ID)) {
		return fmt.Errorf("write audit log: %s was deleted or replaced: %w: put it back", name, ErrTampered)
	}
	if err != nil {
		return fmt.Errorf("write audit log: %w", err)
	}
	return nil
}

// write appends a batch and makes it durable. Any error poisons the file: it is cut back to the
// last good record and closed, because after a failed sync the contents of the disk are unknown, and a
// second sync on the same descriptor would say that all is well.
func (l *Log) write(batch []*request, checkpoint bool) error {
	size := int64(0)
	for _, r := range batch {
		size += int64(r.size())
	}
	st, f := l.st.clone(), l.seg
	if st.off > 0 && st.off+size > l.o.SegmentSize {
		if err := l.settle(); err != nil {
			return errors.Join(fmt.Errorf("begin segment: %w", err), l.drop())
		}
		begun, err := openChecked(l.o.fs, l.path(segmentName(st.segment+1)), os.O_RDWR|os.O_CREATE|os.O_EXCL)
		if err != nil {
			return fmt.Errorf("begin segment: %w", err)
		}
		f = begun
		st.segment, st.off, st.lastOff = st.segment+1, 0, 0
	}
	own, tell := l.own, l.refused.Refused > 0 &&
		slices.ContainsFunc(batch, func(r *request) bool { return !r.past() })
	if tell {
		p, err := l.ownPayload(engine.KindFull, l.refused)
		if err != nil {
			return err
		}
		l.own = append(slices.Clip(own), p)
	}
	start, sure := st.off, l.sure
	if start == 0 {
		sure = 0
	}
	next, err := l.compose(&st, batch, checkpoint)
	if err == nil {
		err = l.append(f, next, sure, start)
	}
	if f != l.seg { // either way the old file is done with
		err = errors.Join(err, l.drop())
	}
	if err != nil {
		next.drop()
		l.own = own
		l.poison(f, st.segment, start)
		return fmt.Errorf("write audit log: %w", err)
	}
	l.st, l.seg, l.own, l.sure = st, f, nil, st.off
	if tell {
		l.clearFull()
	}
	for line := range bytes.Lines(l.buf) {
		l.keep(bytes.TrimSuffix(line, []byte("\n")))
	}
	if err := l.announceKey(); err != nil {
		next.drop()
		return standing{err}
	}
	if next != nil {
		err = l.setAnchor(next)
	}
	l.stopped = l.anchor.Size == st.tree.size && len(batch) > 0 && batch[len(batch)-1].has(engine.KindStop)
	if err != nil && slices.ContainsFunc(batch, func(r *request) bool { return r.sign }) {
		return standing{fmt.Errorf("write checkpoint before a command that is not confined: %w", err)}
	}
	return nil
}

// append writes l.buf at start and makes the file durable from sure on. The file of the next anchor gets
// durable beside it, and its name later.
func (l *Log) append(f file, next *nextAnchor, sure, start int64) error {
	if err := rewrite(f, sure, start); err != nil {
		return err
	}
	if n, err := f.WriteAt(l.buf, start); err != nil {
		return err
	} else if n < len(l.buf) {
		return io.ErrShortWrite
	}
	if err := next.sync(l, f); err != nil {
		return err
	}
	if sure == 0 {
		return l.o.fs.SyncDir(l.o.Dir) // the file itself must not vanish either
	}
	return nil
}

// rewrite writes the bytes of a part of a file over themselves. Records of another process can be
// read although a failed sync lost them: the system then holds their pages for written. Writing
// them again makes the next sync tell the truth.
func rewrite(f file, from, to int64) error {
	if from >= to {
		return nil
	}
	buf := make([]byte, min(to-from, 1<<20))
	for from < to {
		part := buf[:min(int64(len(buf)), to-from)]
		if _, err := f.ReadAt(part, from); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if _, err := f.WriteAt(part, from); err != nil {
			return err
		}
		from += int64(len(part))
	}
	return nil
}

// settle makes the open file durable as far as it is known, before another takes its place.
func (l *Log) settle() error {
	if l.sure >= l.st.off {
		return nil
	}
	if err := rewrite(l.seg, l.sure, l.st.off); err != nil {
		return err
	}
	if err := l.seg.Sync(); err != nil {
		return err
	}
	l.sure = l.st.off
	return l.o.fs.SyncDir(l.o.Dir)
}

// compose puts the lines of a batch into l.buf and moves st past them. The anchor is that of the last
// checkpoint in the batch, taken anew so that it covers the checkpoint record too; nil for none.
func (l *Log) compose(st *state, batch []*request, checkpoint bool) (next *nextAnchor, err error) {
	l.buf = l.buf[:0]
	if st.off == 0 {
		body := segmentBody{Format: 1, Segment: st.segment, Origin: l.keys.signer.Name(), Key: l.keys.public,
			Host: l.o.Host, Agent: l.o.Agent, Version: l.o.Version, Tree: st.tree.hexes()}
		p, err := l.ownPayload(engine.KindSegment, body)
		if err != nil {
			return nil, err
		}
		l.add(st, p)
		if next, err = l.addCheckpoint(st); err != nil { // the tree in the segment record is signed at once
			return nil, err
		}
	}
	for _, p := range l.own {
		l.add(st, p)
	}
	for _, r := range batch {
		for _, p := range r.records {
			l.add(st, p)
		}
		checkpoint = checkpoint || r.sign || r.has(engine.KindStop)
	}
	if st.since >= l.o.CheckpointCount || (checkpoint && st.since > 0) {
		return l.addCheckpoint(st)
	}
	return next, nil
}

func (l *Log) add(st *state, p payload) {
	from := len(l.buf)
	l.buf = appendLine(l.buf, st.tree.size, p, l.writer, st.last)
	line := l.buf[from:]
	st.advance(len(line), tlog.RecordHash(line))
	l.buf = append(l.buf, '\n')
}

// ownPayload encodes a record of the log itself. Nothing in it comes from an agent, and hashes and
// signatures must stay as they are, so it is not redacted.
func (l *Log) ownPayload(kind engine.Kind, body any) (payload, error) {
	return encode(engine.Record{Kind: kind, Body: body}, l.o.Clock(), nil, max(l.o.MaxRecord, 64<<10))
}

// orphanWrite is the possible remainder of a failed write in a file that could not be cut back.
type orphanWrite struct {
	segment int
	off     int64
	bytes   []byte
}

func (l *Log) poison(f file, segment int, start int64) {
	if err := f.Truncate(start); err != nil {
		l.orphan = orphanWrite{segment, start, bytes.Clone(l.buf)}
	}
	_ = f.Close() // the file is given up; its state is found out by reading it again
	l.seg = nil
}

// reopen opens the newest file that was good and checks that it still ends as it did.
func (l *Log) reopen() error {
	if err := l.removeOrphan(); err != nil {
		return fmt.Errorf("reopen audit log: %w", err)
	}
	flag := os.O_RDWR
	if l.st.off == 0 {
		flag |= os.O_CREATE
	}
	name := segmentName(l.st.segment)
	f, err := openChecked(l.o.fs, l.path(name), flag)
	if errors.Is(err, fs.ErrNotExist) {
		if passed, err := l.passPruned(); passed || err != nil {
			return err
		}
		return fmt.Errorf("reopen audit log: %s is gone: %w: put it back", name, ErrTampered)
	}
	if err != nil {
		return fmt.Errorf("reopen audit log: %w", err)
	}
	if err := l.holdsLast(f); err != nil {
		return errors.Join(fmt.Errorf("reopen audit log: %w", err), f.Close())
	}
	l.seg = f
	return nil
}

// holdsLast makes sure that the last known record still stands where it stood. The size of the file does not
// tell: another process may have written on behind a cut, past the end that this one remembers.
func (l *Log) holdsLast(f file) error {
	n := l.st.off - l.st.lastOff
	if n == 0 {
		return nil
	}
	l.buf = slices.Grow(l.buf[:0], int(n))
	line := l.buf[:n]
	got, err := f.ReadAt(line, l.st.lastOff)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read audit log: %w", err)
	}
	if int64(got) == n && line[n-1] == '\n' && tlog.RecordHash(line[:n-1]) == l.st.last {
		return nil
	}
	return &BreakError{File: segmentName(l.st.segment), Offset: l.st.lastOff, Seq: l.st.tree.size - 1,
		What: "the record is not the one that was written"}
}

// removeOrphan cuts off the remainder of a failed write. Its pages may never have reached the disk
// although they can be read, so no record may be linked to it. What another process has since
// linked to it stays.
func (l *Log) removeOrphan() error {
	o := l.orphan
	if o.bytes == nil {
		return nil
	}
	f, err := openChecked(l.o.fs, l.path(segmentName(o.segment)), os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		l.orphan = orphanWrite{}
		return nil
	}
	if err != nil {
		return err
	}
	rest := make([]byte, len(o.bytes)+1)
	n, err := f.ReadAt(rest, o.off)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err == nil && n > 0 && bytes.HasPrefix(o.bytes, rest[:n]) {
		if err = f.Truncate(o.off); err == nil {
			err = f.Sync()
		}
	}
	if err = errors.Join(err, f.Close()); err == nil {
		l.orphan = orphanWrite{}
	}
	return err
}

const reserveName = "reserve"

// keepReserve makes sure that the space for outcomes is set aside before anything new may run. On
// file systems that compress or share blocks the zeros may take less than they seem to.
func (l *Log) keepReserve() error {
	if l.o.Reserve < 0 {
		return nil
	}
	if err := l.keepRefused(); err != nil {
		return err
	}
	name := l.path(reserveName)
	fi, err := l.o.fs.Lstat(name)
	if err == nil && fi.Size >= l.o.Reserve {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keep audit reserve: %w", err)
	}
	if err := l.makeReserve(name); err != nil {
		if isFull(err) {
			err = fmt.Errorf("%w: %w", ErrFull, err)
		}
		return fmt.Errorf("keep audit reserve of %d bytes: %w", l.o.Reserve, err)
	}
	return nil
}

func (l *Log) makeReserve(name string) error {
	f, err := openChecked(l.o.fs, name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(make([]byte, l.o.Reserve), 0)
	if err == nil {
		err = f.Sync() // until then a file system may only have promised the space
	}
	if err != nil {
		// A part of the reserve is worth less than the space it takes from an outcome.
		return errors.Join(err, f.Truncate(0), f.Close())
	}
	return f.Close()
}

// freeReserve gives the space back, for records of past events.
func (l *Log) freeReserve() error {
	f, err := openChecked(l.o.fs, l.path(reserveName), os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = errors.Join(f.Truncate(0), f.Close())
	}
	if err != nil {
		return fmt.Errorf("free audit reserve: %w", err)
	}
	return nil
}

// refusedName is a file of refusedSize bytes that is made while there is space, so that it can be written
// over when there is none: it reserves the space of a full record.
const (
	refusedName = "refused"
	refusedSize = 256
)

// keepRefused makes the file for refusals where it is missing.
func (l *Log) keepRefused() error {
	if l.kept {
		return nil
	}
	fi, err := l.o.fs.Lstat(l.path(refusedName))
	if errors.Is(err, fs.ErrNotExist) || err == nil && fi.Size < refusedSize {
		err = l.writeRefused(fullBody{}, os.O_CREATE)
	}
	l.kept = err == nil
	if isFull(err) {
		err = fmt.Errorf("%w: %w", ErrFull, err)
	}
	if err != nil {
		return fmt.Errorf("keep audit reserve: %w", err)
	}
	return nil
}

func (l *Log) writeRefused(b fullBody, flag int) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	f, err := openChecked(l.o.fs, l.path(refusedName), os.O_RDWR|flag)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(append(text, bytes.Repeat([]byte{' '}, refusedSize-len(text))...), 0)
	return errors.Join(err, f.Close())
}

// noteFull counts requests that are refused because there is no space. That it cannot be kept changes nothing
// for them.
func (l *Log) noteFull(refused []*request, err error) {
	if !errors.Is(err, ErrFull) || len(refused) == 0 {
		return
	}
	now := l.o.Clock().UTC()
	if l.refused.Refused == 0 {
		l.refused.First = now
	}
	l.refused.Refused += int64(len(refused))
	l.refused.Last = now
	_ = l.writeRefused(l.refused, 0)
}

// clearFull forgets the refusals, which are on record now.
func (l *Log) clearFull() {
	l.refused = fullBody{}
	_ = l.writeRefused(l.refused, 0) // a second record of the same refusals does no harm
}

// loadRefused reads the refusals that an earlier process kept. An unreadable one is lost: it proves nothing.
func (l *Log) loadRefused() {
	text, err := readAll(l.o.fs, l.path(refusedName), refusedSize)
	if err != nil || json.Unmarshal(text, &l.refused) != nil {
		l.refused = fullBody{}
	}
}
