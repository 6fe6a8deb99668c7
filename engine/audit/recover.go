package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sallyport-dev/sallyport/engine"
)

// checkAnchor compares the checkpoint file with the log: a log that ends before it was cut.
func (l *Log) checkAnchor() error {
	if l.anchor.Size <= l.st.tree.size {
		return nil
	}
	return l.breakAt(&BreakError{File: segmentName(l.st.segment), Offset: l.st.off, Seq: l.st.tree.size,
		What: fmt.Sprintf("the log ends here, but %d records were signed", l.anchor.Size)})
}

// breakAt refuses a break, or, when the operator accepts breaks, makes the log end before it.
func (l *Log) breakAt(err error) error {
	if !l.o.AcceptBreak || !errors.Is(err, ErrTampered) {
		return fmt.Errorf("open audit log: %w: look at it with sallyport audit verify; to go on after the break: sallyport audit accept-break", err)
	}
	l.anchor = Checkpoint{} // it speaks of a log that is no more
	if l.seg == nil {
		return l.noteRecovery(recoveryBody{Break: true, Reason: err.Error()})
	}
	segments, gap := segmentsIn(l.o.fs, l.o.Dir)
	if gap != nil && !errors.Is(gap, ErrTampered) {
		return gap
	}
	for _, n := range segments {
		if n > l.st.segment {
			if err := l.moveAway(n, err.Error()); err != nil {
				return err
			}
		}
	}
	fi, statErr := l.seg.Stat()
	if statErr != nil {
		return fmt.Errorf("read audit log: %w", statErr)
	}
	return l.cutTail(fi.Size, err.Error(), true)
}

// closeGap moves the segments behind a gap away: nothing links them to those before it.
func (l *Log) closeGap(segments []int, gap error) ([]int, error) {
	keep := 1
	for keep < len(segments) && segments[keep] == segments[keep-1]+1 {
		keep++
	}
	for _, n := range segments[keep:] {
		if err := l.moveAway(n, gap.Error()); err != nil {
			return nil, err
		}
	}
	l.anchor = Checkpoint{}
	return segments[:keep], nil
}

func (l *Log) moveAway(segment int, reason string) error {
	name := segmentName(segment)
	to, err := l.tornName(name)
	if err != nil {
		return err
	}
	if err := l.o.fs.Rename(l.path(name), to); err != nil {
		return fmt.Errorf("move %s away: %w", name, err)
	}
	return l.noteRecovery(recoveryBody{File: name, Saved: l.relative(to), Break: true, Reason: reason})
}

// cutTail moves the bytes from the end of the log to size to torn/ and cuts them off.
func (l *Log) cutTail(size int64, reason string, isBreak bool) error {
	name := segmentName(l.st.segment)
	b := recoveryBody{File: name, Offset: l.st.off, Bytes: size - l.st.off, Break: isBreak, Reason: reason}
	if b.Bytes > 0 {
		to, err := l.tornName(name)
		if err != nil {
			return err
		}
		if b.SHA256, err = l.saveTail(to, size); err != nil {
			return fmt.Errorf("save torn records to %s: %w", to, err)
		}
		b.Saved = l.relative(to)
		if err := l.seg.Truncate(l.st.off); err != nil {
			return fmt.Errorf("cut %s: %w", name, err)
		}
	}
	return l.noteRecovery(b)
}

func (l *Log) saveTail(to string, size int64) (sum string, err error) {
	f, err := l.o.fs.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	buf := make([]byte, min(size-l.st.off, 1<<20))
	for at := l.st.off; at < size && err == nil; {
		part := buf[:min(int64(len(buf)), size-at)]
		if _, err = l.seg.ReadAt(part, at); err == nil {
			h.Write(part)
			_, err = f.WriteAt(part, at-l.st.off)
			at += int64(len(part))
		}
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, l.o.fs.Remove(to))
	}
	return hex.EncodeToString(h.Sum(nil)), l.o.fs.SyncDir(filepath.Dir(to))
}

// tornName returns a free name below torn/.
func (l *Log) tornName(segment string) (string, error) {
	dir := l.path("torn")
	if err := makeDir(l.o.fs, dir); err != nil {
		return "", err
	}
	base := filepath.Join(dir, l.o.Clock().UTC().Format("20060102T150405.000000000Z")+"-"+segment)
	for i := range 1000 {
		name := base
		if i > 0 {
			name = fmt.Sprintf("%s.%d", base, i)
		}
		if _, err := l.o.fs.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name, nil
		}
	}
	return "", fmt.Errorf("save torn records: no free name like %s", base)
}

func (l *Log) relative(name string) string { return "torn/" + filepath.Base(name) }

func (l *Log) noteRecovery(b recoveryBody) error {
	if b.Accepted = b.Break && l.o.AcceptBreak; b.Accepted {
		b.By, b.Why = l.o.AcceptedBy, l.o.AcceptedWhy
	}
	p, err := l.ownPayload(engine.KindRecovery, b)
	if err == nil {
		l.own = append(l.own, p)
	}
	return err
}
