package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/sallyport-dev/sallyport/engine/redact"
)

// Options say where a log lies and how it is kept. Only Dir must be given.
type Options struct {
	// Dir holds the log. It is created with mode 0700 where missing. Keys lie in its sibling "keys".
	Dir string
	// Host, Agent and Version are kept in the first record of each segment. Host defaults to the
	// name of the machine.
	Host, Agent, Version string
	// Redact has the operator's additions to the built-in secret detectors.
	Redact redact.Extra
	// Clock gives the time of records that carry none; default time.Now.
	Clock func() time.Time

	SegmentSize     int64         // bytes after which a new file is begun; default 256 MiB
	MaxRecord       int           // bytes of one line at most; default 1 MiB
	Reserve         int64         // bytes set aside for outcomes on a full disk; default 1 MiB, negative for none
	CheckpointEvery time.Duration // default 10 s, negative for never by time
	CheckpointCount int           // records; default 1024
	LockWait        time.Duration // how long the log may stand still in the hands of others; default 10 s

	// Checkpoint, if set, gets each new signed checkpoint. It must not block.
	Checkpoint func(note []byte)

	after  func(time.Duration) <-chan time.Time // default time.After
	accept acceptance                           // see AcceptBreaks
	fs     fileSystem                           // tests fail it step by step
}

const (
	defaultSegment  = 256 << 20
	defaultRecord   = 1 << 20
	defaultReserve  = 1 << 20
	defaultEvery    = 10 * time.Second
	defaultCount    = 1024
	defaultLockWait = 10 * time.Second
	minRecord       = 4 << 10 // a checkpoint or segment record must always fit
)

func (o *Options) complete() error {
	if o.Dir == "" {
		return errors.New("open audit log: no directory given: set audit.dir")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return fmt.Errorf("open audit log: %w", err)
	}
	o.Dir = dir
	if o.Host == "" {
		o.Host, _ = os.Hostname() // a log without a host name is better than none
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.after == nil {
		o.after = time.After
	}
	if o.fs == nil {
		o.fs = osFS{}
	}
	o.SegmentSize = orDefault(o.SegmentSize, defaultSegment)
	o.MaxRecord = orDefault(o.MaxRecord, defaultRecord)
	o.Reserve = orDefault(o.Reserve, defaultReserve)
	o.CheckpointEvery = orDefault(o.CheckpointEvery, defaultEvery)
	o.CheckpointCount = orDefault(o.CheckpointCount, defaultCount)
	o.LockWait = orDefault(o.LockWait, defaultLockWait)
	if o.MaxRecord < minRecord {
		return fmt.Errorf("open audit log: a record limit of %d bytes is too small: give at least %d", o.MaxRecord,
			minRecord)
	}
	return nil
}

func orDefault[T int | int64 | time.Duration](v, def T) T {
	if v == 0 {
		return def
	}
	return v
}

// Readiness is the state of a log before it is opened.
type Readiness struct {
	New   bool  // there is nothing of a log yet: the first record makes it
	Needs int64 // bytes that must be free for the next command: the reserve, where it is not yet set aside, and some records
}

// someRecords is space for the records of one ordinary command, in bytes.
const someRecords = 64 << 10

// Ready looks at the place of a log as Open does, and creates nothing. The error is what would
// keep Open from it; that the log was tampered with is for Verify to find.
func Ready(dir string) (Readiness, error) {
	r := Readiness{New: true, Needs: defaultReserve + someRecords}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return r, fmt.Errorf("look at audit log: %w", err)
	}
	sign, _, _ := keyPaths(dir)
	for _, d := range []string{dir, filepath.Dir(sign)} {
		if err := checkDir(osFS{}, d); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return r, err
		}
	}
	if _, err := readSecret(osFS{}, sign); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, fmt.Errorf("read signing key: %w", err)
	}
	names, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, fmt.Errorf("look at audit log: %w", err)
	}
	r.New = len(names) == 0
	if fi, err := os.Lstat(filepath.Join(dir, reserveName)); err == nil {
		r.Needs -= min(fi.Size(), defaultReserve)
	}
	return r, nil
}
