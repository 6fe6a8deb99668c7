// Package ledger remembers the files that a session has read, created and downloaded, by real path.
//
// Rules use it for two questions: has the session seen the file that it is about to delete
// (Seen), and does the file that it is about to run come from the network (Downloaded). It is
// a guard against accidents, and no proof: a file that is changed behind its back stays
// "read", since somebody has looked at it, and a program that writes files
// which nothing names leaves no trace here. Where it has to err it forgets a read, which asks
// for another look, and keeps a download.
//
// A ledger lives in memory and, below a state directory, in one file per session, so that it
// outlives a restart and several processes of one session share it.
package ledger

import (
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// The values of Seen, as the policy input has them.
const (
	SeenNone    = "none"
	SeenRead    = "read"
	SeenCreated = "created"
)

// MaxEntries bounds the paths that one session remembers. Beyond it the oldest reads and
// creations are forgotten. Downloads are not: when they alone exceed the bound, every file
// that the session did not create counts as downloaded.
const MaxEntries = 10000

// entry is the knowledge of one path.
type entry struct {
	seen       string
	downloaded bool
	labels     string // the operator's, separated by spaces and in order
	age        uint64 // the order of notes; the lowest is the oldest
}

// Ledger is the memory of one session. It is safe for concurrent use. The nil Ledger
// remembers nothing: all is unseen.
type Ledger struct {
	mu        sync.Mutex
	entries   map[string]entry
	clock     uint64
	saturated bool
	store     *store // nil for memory only
}

// Open returns the ledger of a session, with its earlier entries. With an empty dir,
// or without a session id, it lives in memory only. The session id may be any text; callers
// that serve several agents make it part of the id.
//
// The file is created with mode 0600 in a directory of mode 0700; a symbolic link in its
// place is refused.
func Open(dir, session string) (*Ledger, error) {
	l := &Ledger{entries: map[string]entry{}}
	if dir == "" || session == "" {
		return l, nil
	}
	s, err := openStore(dir, session)
	if err != nil {
		return nil, err
	}
	l.store = s
	if err := l.refresh(); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return l, nil
}

// Close frees the file. The ledger must not be used afterwards.
func (l *Ledger) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.store == nil {
		return nil
	}
	return l.store.close()
}

// Seen returns "created", "read" or "none" for a real path.
func (l *Ledger) Seen(file string) string {
	if l == nil {
		return SeenNone
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// The notes of other processes count; if their file cannot be read, those of this process do.
	_ = l.refresh()
	if e, ok := l.entries[key(file)]; ok && e.seen != "" {
		return e.seen
	}
	return SeenNone
}

// Downloaded reports whether the file, or a directory around it, came from the network.
func (l *Ledger) Downloaded(file string) bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refresh(); err != nil {
		return true // not known: the answer that allows less
	}
	real := key(file)
	own := l.entries[real]
	for p := real; ; p = path.Dir(p) {
		if l.entries[p].downloaded {
			return true
		}
		if p == path.Dir(p) {
			return l.saturated && own.seen != SeenCreated
		}
	}
}

// Labels returns the operator's labels of a file: its own and those of the directories around it, and with
// below those of all below it, too.
func (l *Ledger) Labels(file string, below bool) []string {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.refresh() // as with Seen
	var out []string
	real := key(file)
	for p := real; ; p = path.Dir(p) {
		out = append(out, strings.Fields(l.entries[p].labels)...)
		if p == path.Dir(p) {
			break
		}
	}
	if below {
		for _, p := range l.below(real) {
			out = append(out, strings.Fields(l.entries[p].labels)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Label notes that a file, or everything below a directory, has labels of the operator.
func (l *Ledger) Label(file string, labels []string) error {
	return l.note(record{Op: opLabelled, Path: text(key(file)), To: text(strings.Join(labels, " "))})
}

// Read notes that the session has read a file.
func (l *Ledger) Read(paths ...string) error { return l.noteAll(opRead, paths) }

// Created notes that the session has made a file that was not there before.
func (l *Ledger) Created(paths ...string) error { return l.noteAll(opCreated, paths) }

// Download notes that a file, or everything below a directory, came from the network.
func (l *Ledger) Download(paths ...string) error { return l.noteAll(opDownloaded, paths) }

// Forget drops the entries of a path and of everything below it, because it is gone.
func (l *Ledger) Forget(paths ...string) error { return l.noteAll(opForget, paths) }

// Rename moves the entries of a path, and of everything below it, to a new name. The entry of
// the new name is dropped.
func (l *Ledger) Rename(from, to string) error {
	return l.note(record{Op: opRename, Path: text(key(from)), To: text(key(to))})
}

func (l *Ledger) noteAll(o op, paths []string) error {
	records := make([]record, 0, len(paths))
	for _, p := range paths {
		records = append(records, record{Op: o, Path: text(key(p))})
	}
	return l.note(records...)
}

// note applies records here and appends those that change something to the file. Memory is
// right even when the file cannot be written.
func (l *Ledger) note(records ...record) error {
	if l == nil || len(records) == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.store == nil {
		for _, r := range records {
			l.apply(r)
		}
		return nil
	}
	applied, err := l.store.append(l, records)
	if !applied {
		for _, r := range records {
			l.apply(r)
		}
	}
	if err != nil {
		l.store.owe(records)
	}
	return err
}

// apply changes the state by one record and reports whether it did.
func (l *Ledger) apply(r record) bool {
	file, to := string(r.Path), string(r.To)
	switch r.Op {
	case opRead, opCreated, opDownloaded:
		return l.mark(file, r.Op)
	case opLabelled:
		return l.label(file, to)
	case opForget:
		return l.forget(file)
	case opRename:
		return l.rename(file, to)
	case opSaturated:
		changed := !l.saturated
		l.saturated = true
		return changed
	default: // of a later version: its meaning is unknown, so it changes nothing
		return false
	}
}

func (l *Ledger) mark(file string, o op) bool {
	if file == "" {
		return false
	}
	e, known := l.entries[file]
	before := e
	switch o {
	case opRead:
		if e.seen == "" {
			e.seen = SeenRead
		}
	case opCreated:
		e.seen = SeenCreated
	case opDownloaded:
		e.downloaded = true
	}
	if known && e == before {
		return false
	}
	l.put(file, e)
	return true
}

func (l *Ledger) label(file, labels string) bool {
	if file == "" || labels == "" {
		return false
	}
	e := l.entries[file]
	all := append(strings.Fields(e.labels), strings.Fields(labels)...)
	slices.Sort(all)
	if labels = strings.Join(slices.Compact(all), " "); labels == e.labels {
		return false
	}
	e.labels = labels
	l.put(file, e)
	return true
}

func (l *Ledger) put(file string, e entry) {
	l.clock++
	e.age = l.clock
	l.entries[file] = e
	if len(l.entries) > MaxEntries+MaxEntries/10 {
		l.evict()
	}
}

func (l *Ledger) forget(file string) bool {
	changed := false
	for _, p := range l.below(file) {
		delete(l.entries, p)
		changed = true
	}
	return changed
}

func (l *Ledger) rename(from, to string) bool {
	if from == "" || to == "" || from == to {
		return false
	}
	moved := map[string]entry{}
	for _, p := range l.below(from) {
		moved[to+strings.TrimPrefix(p, from)] = l.entries[p]
		delete(l.entries, p)
	}
	dropped := l.forget(to)
	for p, e := range moved {
		l.entries[p] = e
	}
	return dropped || len(moved) > 0
}

// below are the known paths at and below a path.
func (l *Ledger) below(file string) []string {
	var out []string
	if _, ok := l.entries[file]; ok {
		out = append(out, file)
	}
	prefix := strings.TrimSuffix(file, "/") + "/"
	for p := range l.entries {
		if p != file && strings.HasPrefix(p, prefix) {
			out = append(out, p)
		}
	}
	return out
}

// key is the form in which a path is remembered: clean, with slashes.
func key(file string) string {
	if file == "" {
		return ""
	}
	return path.Clean(filepath.ToSlash(file))
}
