package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"time"
)

// rewrite replaces the file by one that holds only the current entries. If that fails, the
// longer file stays in use.
func (s *store) rewrite(l *Ledger) {
	s.next = s.offset * 2
	var out bytes.Buffer
	for _, p := range l.byAge() {
		e := l.entries[p]
		switch e.seen {
		case SeenRead:
			writeRecord(&out, record{Op: opRead, Path: text(p)})
		case SeenCreated:
			writeRecord(&out, record{Op: opCreated, Path: text(p)})
		}
		if e.labels != "" {
			writeRecord(&out, record{Op: opLabelled, Path: text(p), To: text(e.labels)})
		}
		if e.downloaded {
			writeRecord(&out, record{Op: opDownloaded, Path: text(p)})
		}
	}
	if l.saturated {
		writeRecord(&out, record{Op: opSaturated})
	}
	if int64(out.Len()) > s.offset/2 {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(s.path), "rewrite-*") // mode 0600
	if err != nil {
		return
	}
	_, err = f.Write(out.Bytes())
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), s.path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // a left-over is never read, and goes with the next Prune
	}
	// The next use finds the new file by its name.
}

// byAge are the known paths, the oldest first.
func (l *Ledger) byAge() []string {
	paths := make([]string, 0, len(l.entries))
	for p := range l.entries {
		paths = append(paths, p)
	}
	sort.Slice(paths, func(i, j int) bool { return l.entries[paths[i]].age < l.entries[paths[j]].age })
	return paths
}

// evict forgets the oldest entries down to MaxEntries, downloads last.
func (l *Ledger) evict() {
	for _, downloads := range []bool{false, true} {
		for _, p := range l.byAge() {
			if len(l.entries) <= MaxEntries {
				return
			}
			if e := l.entries[p]; (e.downloaded || e.labels != "") == downloads {
				delete(l.entries, p)
				l.saturated = l.saturated || downloads
			}
		}
	}
}

// Prune removes the files of sessions that were last used before the given time, and the
// leftovers of crashed rewrites, and returns their number.
func Prune(dir string, before time.Time) (int, error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("prune ledgers: %w", err)
	}
	n := 0
	for _, f := range files {
		ours := filepath.Ext(f.Name()) == ".jsonl" || len(f.Name()) > 8 && f.Name()[:8] == "rewrite-"
		info, err := f.Info()
		if err != nil || !ours || !info.Mode().IsRegular() || !info.ModTime().Before(before) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, f.Name())); err != nil {
			return n, fmt.Errorf("prune ledgers: %w", err)
		}
		n++
	}
	return n, nil
}
