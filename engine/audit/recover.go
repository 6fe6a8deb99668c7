package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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
	if !errors.Is(err, ErrTampered) {
		return fmt.Errorf("open audit log: %w", err)
	}
	if !l.passes(err) {
		return refusal(err)
	}
	l.anchor = Checkpoint{} // it speaks of a log that is no more
	if l.seg == nil {
		return l.noteBreak(recoveryBody{}, err)
	}
	segments, gap := segmentsIn(l.o.fs, l.o.Dir)
	if gap != nil && !errors.Is(gap, ErrTampered) {
		return gap
	}
	for _, n := range segments {
		if n > l.st.segment {
			if err := l.moveAway(n, err); err != nil {
				return err
			}
		}
	}
	fi, statErr := l.seg.Stat()
	if statErr != nil {
		return fmt.Errorf("read audit log: %w", statErr)
	}
	return l.cutTail(fi.Size, err)
}

// closeGap moves the segments behind a gap away: nothing links them to those before it.
func (l *Log) closeGap(segments []int, gap error) ([]int, error) {
	keep := 1
	for keep < len(segments) && segments[keep] == segments[keep-1]+1 {
		keep++
	}
	for _, n := range segments[keep:] {
		if err := l.moveAway(n, gap); err != nil {
			return nil, err
		}
	}
	l.anchor = Checkpoint{}
	return segments[:keep], nil
}

func (l *Log) moveAway(segment int, why error) error {
	name := segmentName(segment)
	to, err := l.tornName(name)
	if err != nil {
		return err
	}
	if err := l.o.fs.Rename(l.path(name), to); err != nil {
		return fmt.Errorf("move %s away: %w", name, err)
	}
	return l.noteBreak(recoveryBody{File: name, Saved: l.relative(to)}, why)
}

// cutTail moves the bytes from the end of the log to size to torn/ and cuts them off. Without a break that
// explains them they are the remainder of a record after a crash.
func (l *Log) cutTail(size int64, why error) error {
	name := segmentName(l.st.segment)
	b := recoveryBody{File: name, Offset: l.st.off, Bytes: size - l.st.off}
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
	if why != nil {
		return l.noteBreak(b, why)
	}
	b.Reason = "the last record is not complete"
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

// noteBreak puts a break on record behind which Open goes on, and whether the operator accepted it.
func (l *Log) noteBreak(b recoveryBody, cause error) error {
	if b.Break = true; b.Reason == "" {
		b.Reason = cause.Error()
	}
	if b.Accepted = l.o.accept.has(cause); b.Accepted {
		b.By, b.Why = l.o.accept.by, l.o.accept.why
	}
	return l.noteRecovery(b)
}

func (l *Log) noteRecovery(b recoveryBody) error {
	p, err := l.ownPayload(engine.KindRecovery, b)
	if err == nil {
		l.own = append(l.own, p)
	}
	return err
}

// recentBytes bounds the lines that a process keeps in memory to put them on record again.
const recentBytes = 256 << 10

// keep remembers a line that was written or read. Those of commands that still run are among the newest.
func (l *Log) keep(line []byte) {
	l.recent = append(l.recent, string(line))
	for l.recentSize += len(line); l.recentSize > recentBytes; l.recent = l.recent[1:] {
		l.recentSize -= len(l.recent[0])
	}
}

// noteCut puts on record that the log is shorter than this process left it, was replaced or is gone, with its
// end as the process remembers it, and goes on behind. Where nothing can be written behind the rest, it saves
// that end beside the records and reports false.
func (l *Log) noteCut(cause error) bool {
	if !errors.Is(cause, ErrTampered) {
		return false
	}
	was := l.st
	root := was.tree.root()
	b := recoveryBody{File: segmentName(was.segment), Offset: was.off, Break: true, Reason: cause.Error(),
		Known: &knownEnd{
			Size: was.tree.size, Last: hex.EncodeToString(was.last[:]), Root: hex.EncodeToString(root[:]),
			Lines: l.recent,
		}}
	if err := l.startAnew(); err != nil {
		l.st, l.recent = was, b.Known.Lines
		l.saveCut(b)
		_ = l.drop() // the next batch finds the same, and says so
		return false
	}
	if l.noteRecovery(b) != nil || l.write(nil, true) != nil {
		l.saveCut(b)
		return false
	}
	return true
}

// startAnew finds the end of the log on disk as Open does.
func (l *Log) startAnew() error {
	if err := l.drop(); err != nil {
		return err
	}
	l.orphan, l.sure, l.own, l.st = orphanWrite{}, 0, nil, state{segment: 1}
	l.recent, l.recentSize = nil, 0
	segments, err := segmentsIn(l.o.fs, l.o.Dir)
	if err == nil {
		l.anchor, _, err = readAnchor(l.o.fs, l.o.Dir, l.keys.public)
	}
	if err == nil && len(segments) == 0 && l.anchor.Size > 0 {
		err = l.checkAnchor() // and no file is made in the place of those that are gone
	}
	if err == nil {
		err = l.findStart(segments)
	}
	if err == nil {
		err = l.catchUp()
	}
	if err == nil {
		err = l.checkAnchor()
	}
	return err
}

// cutSuffix ends the names of files below torn/ that tell of a cut. An accepted one gets another name.
const cutSuffix = "-cut.json"

// saveCut writes the remembered end below torn/, once for each end of the log. An error is dropped: the
// request is refused either way.
func (l *Log) saveCut(b recoveryBody) {
	if l.saved == b.Known.Size {
		return
	}
	l.saved = b.Known.Size
	name, err := l.tornName("cut.json")
	if err != nil {
		return
	}
	text, err := json.MarshalIndent(b, "", "\t")
	if err != nil {
		return
	}
	f, err := l.o.fs.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return
	}
	_, _ = f.WriteAt(append(text, '\n'), 0)
	_ = errors.Join(f.Sync(), f.Close())
}
