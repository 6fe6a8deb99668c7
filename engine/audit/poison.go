package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/mod/sumdb/tlog"
)

// orphanWrite is what a failed write may have left in a file that could not be cut back.
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
		return fmt.Errorf("reopen audit log: %s is gone: %w: put it back", name, ErrTampered)
	}
	if err != nil {
		return fmt.Errorf("reopen audit log: %w", err)
	}
	if n := l.st.off - l.st.lastOff; n > 0 {
		line := make([]byte, n)
		if got, err := f.ReadAt(line, l.st.lastOff); int64(got) < n || tlog.RecordHash(line[:n-1]) != l.st.last || line[n-1] != '\n' {
			if err == nil || errors.Is(err, io.EOF) {
				err = &BreakError{File: name, Offset: l.st.lastOff, Seq: l.st.tree.size - 1, What: "the record is not the one that was written"}
			}
			return errors.Join(fmt.Errorf("reopen audit log: %w", err), f.Close())
		}
	}
	l.seg = f
	return nil
}

// removeOrphan cuts off what a failed write left behind. Its pages may never have reached the disk
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
