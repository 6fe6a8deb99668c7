package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"unicode/utf8"
)

// op is the kind of a line of the file.
type op string

const (
	opRead       op = "read"
	opCreated    op = "created"
	opDownloaded op = "downloaded"
	opLabelled   op = "labelled" // To has the labels
	opForget     op = "forget"
	opRename     op = "rename"
	opSaturated  op = "saturated" // downloads were dropped
)

// record is one line of the file.
type record struct {
	Op   op   `json:"op"`
	Path text `json:"path,omitempty"`
	To   text `json:"to,omitempty"`
}

// text is a path. One that is not UTF-8 is written as {"base64": "…"}: JSON would change it
// into another path.
type text string

type encoded struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON writes a string, or an object with base64.
func (t text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal(encoded{[]byte(t)})
}

// UnmarshalJSON reads both forms.
func (t *text) UnmarshalJSON(b []byte) error {
	var e encoded
	if len(b) > 0 && b[0] == '{' {
		err := json.Unmarshal(b, &e)
		*t = text(e.Base64)
		return err
	}
	var s string
	err := json.Unmarshal(b, &s)
	*t = text(s)
	return err
}

// rewriteAt is the size in bytes at which a file is written anew, if that makes it shorter.
const rewriteAt = 4 << 20

// store is the file of a session. Writers hold a lock on it; readers need none, because a
// line counts only once its newline is there.
type store struct {
	path   string
	file   *os.File
	offset int64    // up to here all is applied
	next   int64    // the size at which to try a rewrite
	owed   []record // notes that allow less and did not reach the file
}

// fileName is the name of a session's file: a hash, so that no id reaches the file system.
func fileName(session string) string {
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(sum[:]) + ".jsonl"
}

func openStore(dir, session string) (*store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open ledger: %w: make the state directory writable", err)
	}
	if err := checkDir(dir); err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	s := &store{path: filepath.Join(dir, fileName(session)), next: rewriteAt}
	return s, s.open()
}

func (s *store) open() error {
	f, err := openFile(s.path)
	if err != nil {
		return fmt.Errorf("open ledger: %w: remove the file in its place", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file: remove it", s.path)
	}
	if err != nil {
		f.Close()
		return fmt.Errorf("open ledger: %w", err)
	}
	s.file, s.offset = f, 0
	return nil
}

func (s *store) close() error { return s.file.Close() }

// refresh applies the lines of other processes.
func (l *Ledger) refresh() error {
	s := l.store
	if s == nil {
		return nil
	}
	if err := s.follow(l); err != nil {
		return err
	}
	info, err := s.file.Stat()
	if err != nil {
		return fmt.Errorf("read ledger: %w", err)
	}
	if info.Size() <= s.offset {
		return nil
	}
	return s.load(l, info.Size())
}

// follow opens the file anew when another process has rewritten it, and starts over.
func (s *store) follow(l *Ledger) error {
	now, err := os.Lstat(s.path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read ledger: %w", err)
	}
	mine, statErr := s.file.Stat()
	if statErr != nil {
		return fmt.Errorf("read ledger: %w", statErr)
	}
	if err == nil && os.SameFile(now, mine) && mine.Size() >= s.offset {
		return nil
	}
	old := s.file
	if err := s.open(); err != nil {
		s.file = old
		return err
	}
	old.Close()
	if err == nil { // after a removal, this process has the only entries
		l.entries, l.saturated = map[string]entry{}, false
	}
	return nil
}

// load applies the lines from offset on. A last line without its newline is left for later.
func (s *store) load(l *Ledger, size int64) error {
	b := make([]byte, size-s.offset)
	n, err := s.file.ReadAt(b, s.offset)
	if err != nil && err != io.EOF {
		return fmt.Errorf("read ledger: %w", err)
	}
	b = b[:bytes.LastIndexByte(b[:n], '\n')+1]
	s.offset += int64(len(b))
	for len(b) > 0 {
		line, rest, _ := bytes.Cut(b, []byte{'\n'})
		b = rest
		var r record
		// A line that is not one was torn by a crash; the next one is whole again.
		if json.Unmarshal(line, &r) == nil {
			l.apply(r)
		}
	}
	return nil
}

// append applies records and writes those that change something, behind the lines that other
// processes have written meanwhile. It reports whether it applied them.
func (s *store) append(l *Ledger, records []record) (applied bool, err error) {
	if err := s.lock(l); err != nil {
		return false, err
	}
	locked := s.file
	defer unlockFile(locked)
	if err := l.refresh(); err != nil {
		return false, err
	}
	info, err := s.file.Stat()
	if err != nil {
		return false, fmt.Errorf("write ledger: %w", err)
	}
	var out bytes.Buffer
	if info.Size() > s.offset { // a torn line: end it, so that it spoils no other
		out.WriteByte('\n')
	}
	saturated := l.saturated
	for _, r := range s.owed {
		l.apply(r)
		writeRecord(&out, r)
	}
	for _, r := range records {
		if l.apply(r) {
			writeRecord(&out, r)
		}
	}
	if l.saturated && !saturated {
		writeRecord(&out, record{Op: opSaturated})
	}
	if out.Len() == 0 {
		return true, nil
	}
	n, err := s.file.Write(out.Bytes())
	if err != nil {
		return true, fmt.Errorf("write ledger: %w: free space in the state directory", err)
	}
	s.offset, s.owed = info.Size()+int64(n), nil
	if s.offset > s.next {
		s.rewrite(l)
	}
	return true, nil
}

// owe remembers records that were not written: they are known here, and would not be written again. Of too
// many the others are lost to other processes.
func (s *store) owe(records []record) {
	for _, r := range records {
		if (r.Op == opDownloaded || r.Op == opLabelled) && len(s.owed) < MaxEntries {
			s.owed = append(s.owed, r)
		}
	}
}

func writeRecord(b *bytes.Buffer, r record) {
	line, err := json.Marshal(r)
	if err != nil { // strings and bytes always marshal
		return
	}
	b.Write(line)
	b.WriteByte('\n')
}

// lock takes the lock of the file that has the name now: another process may have replaced
// the one that is open here.
func (s *store) lock(l *Ledger) error {
	for range 16 {
		if err := lockFile(s.file); err != nil {
			return fmt.Errorf("lock ledger: %w", err)
		}
		now, err := os.Lstat(s.path)
		mine, statErr := s.file.Stat()
		if err == nil && statErr == nil && os.SameFile(now, mine) {
			return nil
		}
		unlockFile(s.file)
		if err := s.follow(l); err != nil {
			return err
		}
	}
	return errors.New("lock ledger: the file is replaced again and again: stop the program that does so")
}
