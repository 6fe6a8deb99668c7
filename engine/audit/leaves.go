package audit

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"golang.org/x/mod/sumdb/tlog"
)

// Leaves returns the RFC 6962 leaf hashes of the records from number first up to, not including, end. An error is
// the last thing that it yields: a record that is gone, or that stands where another belongs.
func Leaves(dir string, first, end int64) iter.Seq2[tlog.Hash, error] {
	return func(yield func(tlog.Hash, error) bool) {
		if err := hashesOf(dir, first, end, yield); err != nil {
			yield(tlog.Hash{}, fmt.Errorf("read records %d to %d: %w", first, end, err))
		}
	}
}

func hashesOf(dir string, next, end int64, yield func(tlog.Hash, error) bool) error {
	segments, err := segmentsIn(osFS{}, dir)
	if err != nil {
		return err
	}
	from := 0 // the last file that begins at or before next
	for i, n := range segments {
		seq, err := firstIn(dir, n)
		if err != nil {
			return err
		}
		if seq > next {
			break
		}
		from = i
	}
	for _, n := range segments[min(from, len(segments)):] {
		more, err := leavesOf(dir, n, &next, end, yield)
		if !more || err != nil || next == end {
			return err
		}
	}
	return fmt.Errorf("the log ends before record %d", next)
}

// firstIn returns the number of the first record of a file.
func firstIn(dir string, segment int) (int64, error) {
	f, err := osFS{}.OpenFile(filepath.Join(dir, segmentName(segment)), os.O_RDONLY, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close() // read only: nothing can be lost
	h, _, ok := headAfter(f, 0, maxLine)
	if !ok {
		return 0, fmt.Errorf("%s does not begin with a record", segmentName(segment))
	}
	return h.seq, nil
}

// leavesOf yields the leaves of one file and moves next past them.
func leavesOf(dir string, segment int, next *int64, end int64, yield func(tlog.Hash, error) bool) (more bool, err error) {
	f, err := osFS{}.OpenFile(filepath.Join(dir, segmentName(segment)), os.O_RDONLY, 0)
	if err != nil {
		return false, err
	}
	defer f.Close() // read only: nothing can be lost
	fi, err := f.Stat()
	if err != nil {
		return false, err
	}
	r := newLineReader(f, seek(f, fi.Size, *next), fi.Size)
	for *next < end {
		line, whole, err := r.next()
		if errors.Is(err, io.EOF) || err == nil && !whole {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		h, ok := parseHead(line)
		switch {
		case !ok || h.seq > *next:
			return false, fmt.Errorf("%s: another line stands where record %d belongs", segmentName(segment), *next)
		case h.seq == *next:
			if *next++; !yield(r.leaf(line), nil) {
				return false, nil
			}
		}
	}
	return true, nil
}

// near is how close to a record seek leads, in bytes.
const near = 256 << 10

// seek returns the offset of a line at or before a record, by halves: the numbers of records ascend.
func seek(f file, size, seq int64) int64 {
	low, high := int64(0), size
	for high-low > near {
		middle := low + (high-low)/2
		h, at, ok := headAfter(f, middle, high)
		switch {
		case !ok || h.seq > seq:
			high = middle
		default:
			low = at
		}
	}
	return low
}

// headAfter reads the head of the first line that begins behind an offset; at 0 it is the first line.
func headAfter(f file, off, end int64) (h head, at int64, ok bool) {
	r := newLineReader(f, off, min(end, off+2*maxLine))
	at = off
	if off > 0 {
		line, whole, err := r.next()
		if !whole || err != nil {
			return head{}, 0, false
		}
		at += int64(len(line)) + 1
	}
	line, _, err := r.next()
	if err != nil {
		return head{}, 0, false
	}
	h, ok = parseHead(line)
	return h, at, ok
}
