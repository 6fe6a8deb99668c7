package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

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
	} else if first := v.segments[0].number; first > 1 && !o.AllowPruned {
		v.problem(segmentName(1), 0, 0, fmt.Sprintf("the files before %s are missing: if they were removed on purpose, say so with --allow-pruned", segmentName(first)))
	}
	cuts, err := cutsIn(v.fs, v.dir)
	if err != nil {
		return err
	}
	for _, name := range cuts {
		v.problem("torn/"+name, 0, 0, "a process found the log cut, and nobody accepted that: find out what happened, then: sallyport audit accept-break")
	}
	v.readKeys(o.PublicKey)
	return v.readAnchors(o.Checkpoint)
}

func (v *verifier) snapshotLock() (unlock func(), err error) {
	f, err := v.fs.OpenFile(filepath.Join(v.dir, "lock"), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return func() {}, nil // a copy of a log, or one that only may be read
	}
	if err != nil {
		return nil, err
	}
	if err := lockFor(f, defaultLockWait); err != nil {
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

func (v *verifier) readAnchors(given []byte) error {
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
	return nil
}
