package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/tlog"
)

// maxLine is more than any record of ours: a longer line is not read into memory whole.
const maxLine = 16 << 20

// lineReader reads the lines of a part of a file with a bounded buffer.
type lineReader struct {
	r        io.ReaderAt
	off, end int64 // the next byte to read from r, and where to stop
	buf      []byte
	lo, hi   int // bytes that were read and not yet returned; buf[lo-1] may be overwritten
	start    int // where the last line begins in buf
}

func newLineReader(r io.ReaderAt, off, end int64) *lineReader {
	size := int64(1 << 20)
	size = max(min(size, end-off+1), 512)
	return &lineReader{r: r, off: off, end: end, buf: make([]byte, size), lo: 1, hi: 1}
}

// next returns the next line without its newline; whole is false for one that has none, which is
// the last, or longer than maxLine. The line is valid until the next call.
func (l *lineReader) next() (line []byte, whole bool, err error) {
	scanned := 0
	for {
		if i := bytes.IndexByte(l.buf[l.lo+scanned:l.hi], '\n'); i >= 0 {
			l.start = l.lo
			l.lo += scanned + i + 1
			return l.buf[l.start : l.lo-1], true, nil
		}
		scanned = l.hi - l.lo
		if l.off >= l.end || scanned > maxLine {
			if scanned == 0 {
				return nil, false, io.EOF
			}
			l.start, l.lo = l.lo, l.hi
			return l.buf[l.start:l.hi], false, nil
		}
		if err := l.fill(); err != nil {
			return nil, false, err
		}
	}
}

func (l *lineReader) fill() error {
	if l.lo > 1 {
		l.hi = 1 + copy(l.buf[1:], l.buf[l.lo:l.hi])
		l.lo = 1
	}
	if l.hi == len(l.buf) {
		l.buf = append(l.buf, make([]byte, len(l.buf))...)
	}
	want := min(int64(len(l.buf)-l.hi), l.end-l.off)
	n, err := l.r.ReadAt(l.buf[l.hi:l.hi+int(want)], l.off)
	l.hi += n
	l.off += int64(n)
	if n > 0 || err == nil {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF // the file shrank while it was read
	}
	return err
}

// leaf is the RFC 6962 leaf hash of the last line. It borrows the byte before the line, which is
// already used up, so that the line need not be copied.
func (l *lineReader) leaf(line []byte) tlog.Hash {
	l.buf[l.start-1] = 0
	return sha256.Sum256(l.buf[l.start-1 : l.start+len(line)])
}

// clean says whether a line has only bytes that appendLine can write. It is far cheaper than
// parsing JSON and catches the zeros of a torn write.
func clean(line []byte) bool {
	i := 0
	for ; i+8 <= len(line); i += 8 {
		// A byte below 0x20 borrows from its highest bit when 0x20 is taken from each.
		x := binary.LittleEndian.Uint64(line[i:])
		if (x-0x2020202020202020)&^x&0x8080808080808080 != 0 {
			return false
		}
	}
	for ; i < len(line); i++ {
		if line[i] < ' ' {
			return false
		}
	}
	return utf8.Valid(line)
}

// isRecord says whether a line is a record by its shape, wherever it belongs.
func isRecord(line []byte) (head, bool) {
	h, ok := parseHead(line)
	return h, ok && clean(line) && json.Valid(line)
}

// ErrTampered is in the chain of errors that say that a log was changed after it was written.
var ErrTampered = errors.New("the audit log was tampered with")

// BreakError says where a log does not fit together.
type BreakError struct {
	File   string // base name of the segment, or of another file of the log
	Offset int64  // bytes from the start of the file
	Seq    int64  // the record that should stand there
	What   string
}

func (e *BreakError) Error() string {
	return fmt.Sprintf("read %s: at byte %d, where record %d belongs: %s", e.File, e.Offset, e.Seq, e.What)
}

// Unwrap makes errors.Is(err, ErrTampered) true.
func (e *BreakError) Unwrap() error { return ErrTampered }
