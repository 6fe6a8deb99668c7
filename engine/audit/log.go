package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/redact"
)

// ErrClosed is returned by Record after Close.
var ErrClosed = errors.New("audit log is closed")

// ErrFull is in the chain of errors of records that found no space.
var ErrFull = errors.New("no space left for the audit log: free space or set audit.dir")

// Log is an open audit log. It is safe for concurrent use, and several processes may have the
// same log open.
type Log struct {
	o      Options
	keys   keys
	red    *redact.Redactor
	writer string // who writes: see self

	mu     sync.Mutex
	queue  []*request
	busy   bool // the committer writes, or a caller of Record that found the log free
	due    bool // a checkpoint is due by time
	closed bool
	wake   chan struct{} // 1: the committer writes from now on
	done   chan struct{} // the committer has ended
	final  error         // of Close; read after done

	// The writer that has set busy owns the fields below.
	lock       file
	lockID     fileID
	seg        file // nil while poisoned
	st         state
	sure       int64       // up to here the newest file is durable beyond doubt
	orphan     orphanWrite // bytes that a failed write may have left on disk
	own        []payload   // records of the log itself that wait for the next batch
	recent     []string    // the newest lines: see keep
	saved      int64       // records of the log whose cut was saved last
	recentSize int         // bytes of recent
	anchor     Checkpoint  // newest note on disk; zero size for none
	kept       bool        // the file for refusals is there
	refused    fullBody    // records without space since the last decision that had some
	stopped    bool        // the last batch ended with a stop record and its checkpoint
	passing    bool        // Open goes on behind a break: see passes
	rekeyed    bool        // the signing key was lost: earlier checkpoints cannot be checked
	buf        []byte
}

var _ engine.Recorder = (*Log)(nil)

// request is some records on their way to the disk, which stand there together or not at all.
type request struct {
	records []payload
	sign    bool       // with a checkpoint, or not at all
	result  chan error // 1
}

// size bounds the bytes that the request takes in the log.
func (r *request) size() int {
	n := 0
	for _, p := range r.records {
		n += len(p.body) + envelopeSz
	}
	return n
}

// past reports whether the request speaks of an event that has happened already.
func (r *request) past() bool { return r.has(engine.KindOutcome, engine.KindStop) }

// has reports whether a record is of one of the kinds.
func (r *request) has(kinds ...engine.Kind) bool {
	return slices.ContainsFunc(r.records, func(p payload) bool { return slices.Contains(kinds, p.kind) })
}

// Open opens the log in o.Dir for writing and creates it where there is none. A torn last record,
// as a crash leaves it, is moved to torn/ and a recovery record is written. A log that was
// tampered with (errors.Is(err, ErrTampered)) is refused unless o.AcceptBreak.
func Open(o Options) (*Log, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	if err := makeDir(o.fs, o.Dir); err != nil {
		return nil, err
	}
	l := &Log{o: o, writer: self(), wake: make(chan struct{}, 1), done: make(chan struct{})}
	if err := l.acquire(l.o.LockWait); err != nil {
		return nil, err
	}
	err := l.load()
	l.passing, l.o.accept.ids = false, nil
	if err == nil && len(l.own) > 0 {
		err = l.write(nil, false)
	}
	l.release()
	if err != nil {
		return nil, errors.Join(err, l.closeFiles())
	}
	go l.run()
	return l, nil
}

// Redactor returns the redactor of the log, whose tags are those in its records.
func (l *Log) Redactor() *redact.Redactor { return l.red }

// PublicKey returns the verifier key of the log's checkpoints.
func (l *Log) PublicKey() string { return l.keys.public }

// Record writes records with one sync and returns nil only when all are on stable storage. A context that is
// done refuses them; once they are queued its end no longer matters: a record is never given up half way.
// Secrets in their bodies are replaced before anything is hashed or written. A stop record is followed by a
// checkpoint.
func (l *Log) Record(ctx context.Context, records ...engine.Record) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("write audit record: %w", err)
	}
	req := &request{result: make(chan error, 1)}
	for _, r := range records {
		switch r.Kind {
		case engine.KindRecovery, engine.KindCheckpoint, engine.KindSegment, engine.KindFull, engine.KindPrune:
			return fmt.Errorf("write audit record: kind %q belongs to the log itself", r.Kind)
		}
		if !slices.Contains(kinds, r.Kind) {
			return fmt.Errorf("write audit record: unknown kind %q", r.Kind)
		}
		p, err := encode(r, l.o.Clock(), l.red, l.o.MaxRecord)
		if err != nil {
			return err
		}
		req.records = append(req.records, p)
		req.sign = req.sign || r.Sign
	}
	return l.enqueue(req)
}

func (l *Log) enqueue(req *request) error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return ErrClosed
	}
	alone := !l.busy
	if l.busy = true; !alone {
		l.queue = append(l.queue, req)
	}
	l.mu.Unlock()
	if alone {
		l.turn(req)
	}
	return <-req.result
}

// turn writes one request in the goroutine of its caller, so that no other has to wake up. After a panic the
// next batch opens the file again, and reads its end.
func (l *Log) turn(req *request) {
	done := false
	defer func() {
		if !done {
			_ = l.drop()
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.busy = len(l.queue) > 0 || l.due || l.closed; l.busy {
			l.wake <- struct{}{}
		}
	}()
	l.process([]*request{req}, false)
	done = true
}

// Redacted returns the body of a record as the log has it: a JSON object without secrets, cut to size.
func (l *Log) Redacted(r engine.Record) ([]byte, error) {
	p, err := encode(r, l.o.Clock(), l.red, l.o.MaxRecord)
	if err != nil {
		return nil, err
	}
	return append([]byte{'{'}, append(bytes.TrimPrefix(p.body, []byte{','}), '}')...), nil
}

// Close writes the queued records and a last checkpoint, and frees the files.
func (l *Log) Close() error {
	l.mu.Lock()
	first := !l.closed
	l.closed = true
	if !l.busy {
		l.busy = true
		l.wake <- struct{}{}
	}
	l.mu.Unlock()
	<-l.done
	if !first {
		return ErrClosed
	}
	return l.final
}

// run is the committer: it writes the records that queue up while another batch is on its way to the disk,
// and the checkpoints that are due by time.
func (l *Log) run() {
	defer close(l.done)
	var tick <-chan time.Time
	if l.o.CheckpointEvery > 0 {
		t := time.NewTicker(l.o.CheckpointEvery)
		defer t.Stop()
		tick = t.C
	}
	for {
		select {
		case <-l.wake:
		case <-tick:
			l.mu.Lock()
			l.due = true
			busy := l.busy
			l.busy = true
			l.mu.Unlock()
			if busy {
				continue
			}
		}
		for {
			batch, due, closed := l.take()
			if len(batch) == 0 && !due {
				if closed {
					l.final = l.finish()
					return
				}
				break
			}
			l.process(batch, due && l.st.since > 0)
			if len(batch) > 1 {
				runtime.Gosched() // the woken writers may join the next batch
			}
		}
	}
}

// maxBatch bounds the bytes of one write, so that a lock is not held for long.
const maxBatch = 1 << 20

// take returns the next batch. The turn of the committer ends with an empty one, unless a checkpoint is due
// or the log was closed.
func (l *Log) take() (batch []*request, due, closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, size := 0, 0
	for n < len(l.queue) && (n == 0 || size+l.queue[n].size() <= maxBatch) {
		size += l.queue[n].size()
		n++
	}
	batch = slices.Clone(l.queue[:n])
	l.queue = slices.Delete(l.queue, 0, n)
	due, l.due = l.due, false
	l.busy = n > 0 || due || l.closed
	return batch, due, l.closed
}

// finish writes the last checkpoint, if it was not written with a stop record. That it fails loses no record,
// but the caller should know.
func (l *Log) finish() error {
	if l.stopped {
		return l.closeFiles()
	}
	err := l.acquire(l.o.LockWait)
	if err == nil {
		err = l.ready()
		if err == nil && l.st.since > 0 {
			err = l.write(nil, true)
		}
		l.noteCut(err)
		l.release()
	}
	if err != nil {
		err = fmt.Errorf("write last checkpoint: %w", err)
	}
	return errors.Join(err, l.closeFiles())
}

func (l *Log) closeFiles() error {
	var errs []error
	if l.seg != nil {
		errs = append(errs, l.seg.Close())
		l.seg = nil
	}
	if l.lock != nil {
		errs = append(errs, l.lock.Close())
		l.lock = nil
	}
	return errors.Join(errs...)
}

func (l *Log) path(name string) string { return filepath.Join(l.o.Dir, name) }

// acquire takes the lock that all writers of this log share. A lock file that was removed or
// replaced would let two of them in at once, so the one at the path counts.
func (l *Log) acquire(wait time.Duration) error {
	name := l.path("lock")
	for range 10 {
		if l.lock == nil {
			f, err := openChecked(l.o.fs, name, os.O_RDWR|os.O_CREATE)
			if err != nil {
				return fmt.Errorf("lock audit log: %w", err)
			}
			fi, err := f.Stat()
			if err != nil {
				return errors.Join(fmt.Errorf("lock audit log: %w", err), f.Close())
			}
			l.lock, l.lockID = f, fi.ID
		}
		if err := lockFor(l.lock, patience{wait, l.o.after, movement(l.o.fs, l.o.Dir)}); err != nil {
			if errors.Is(err, errBusy) {
				l.lock = nil
			}
			return err
		}
		there, err := l.o.fs.Lstat(name)
		if err == nil && l.lockID == there.ID {
			return nil
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		err = errors.Join(err, l.lock.Close())
		l.lock = nil
		if err != nil {
			return fmt.Errorf("lock audit log: %w", err)
		}
	}
	return errors.New("lock audit log: the lock file is replaced again and again")
}

// release gives the lock back. If that fails the file is closed, which frees it for certain.
func (l *Log) release() {
	if l.lock == nil {
		return
	}
	if err := l.lock.Unlock(); err != nil {
		_ = l.lock.Close() // the descriptor is gone either way
		l.lock = nil
	}
}
