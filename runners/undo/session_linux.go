package undo

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Store is the Session of an environment that is open. It is safe for concurrent use.
type Store struct {
	s    Session
	dir  string
	most int64
	lock *os.File

	once   sync.Once
	mu     sync.Mutex
	offset int64 // of the journal, behind the last entry that was read
	open   map[string][]Entry
}

// Begin makes the store of an environment, after it has removed others as Prune does.
func Begin(o Options, s Session) (_ *Store, err error) {
	dir := o.Dir
	defer func() {
		if err != nil {
			err = fmt.Errorf("make the store of changed files: %w", err)
		}
	}()
	if dir == "" {
		return nil, errors.New("there is no place for it: set $XDG_STATE_HOME")
	}
	used := Prune(dir, o.Most/2, time.Now().Add(-o.Keep))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, err
	}
	s.Opened = time.Now().UTC()
	home, err := os.MkdirTemp(dir, s.Opened.Format("20060102-150405-"))
	if err != nil {
		return nil, err
	}
	s.ID = filepath.Base(home)
	b := &Store{s: s, dir: home, most: o.Most - used, open: map[string][]Entry{}}
	if b.lock, err = lock(filepath.Join(home, openFile)); err != nil {
		return nil, err
	}
	mode := fs.FileMode(0o700)
	if s.Shared != "" {
		mode = 0o777
	}
	for _, name := range []string{b.Kept(), filepath.Join(b.Kept(), objectsDir)} {
		if err := os.Mkdir(name, 0o700); err != nil {
			return nil, err
		}
		if err := os.Chmod(name, mode); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return b, os.WriteFile(filepath.Join(home, sessionFile), append(text, '\n'), 0o600)
}

// lock takes a file for this process, which keeps it until it closes the file or dies.
func lock(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// Kept is the directory of the Recorder.
func (b *Store) Kept() string { return b.s.kept(b.dir) }

// Most bounds the Recorder's pre-images, in bytes.
func (b *Store) Most() int64 { return b.most }

// Close ends the store. One without changes is removed.
func (b *Store) Close() {
	if b == nil {
		return
	}
	b.once.Do(b.close)
}

func (b *Store) close() {
	info, err := os.Stat(filepath.Join(b.Kept(), journalFile))
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		discard(b.dir)
	} else {
		weigh(b.dir)
	}
	_ = b.lock.Close()
}

// end is the state of a file at the end of a command.
type end struct {
	Decision string `json:"d"`
	Path     exact  `json:"p,omitempty"`
	State    State  `json:"f,omitzero"`
	Whole    bool   `json:"whole,omitempty"` // no more follow
}

// Ended notes the states of the files that a decision changed. It is called when none of its processes is
// left.
func (b *Store) Ended(decision string) error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var err error
	var last Entry
	b.offset, err = eachLine(filepath.Join(b.Kept(), journalFile), b.offset, func(e Entry) {
		if last = e; e.Op != opIntend {
			b.open[e.Decision] = append(b.open[e.Decision], e)
		}
	})
	if last.Decision == decision && b.s.settle(&last) {
		b.open[decision] = append(b.open[decision], last)
	}
	if err != nil {
		return fmt.Errorf("read the changes of decision %s: %w", decision, err)
	}
	entries := b.open[decision]
	delete(b.open, decision)
	if len(entries) == 0 {
		return nil
	}
	const flags = os.O_WRONLY | os.O_APPEND | os.O_CREATE
	f, err := os.OpenFile(filepath.Join(b.dir, endsFile), flags, 0o600)
	if err != nil {
		return fmt.Errorf("note the changes of decision %s: %w", decision, err)
	}
	out := bufio.NewWriter(f)
	lines := json.NewEncoder(out)
	known := map[string]bool{}
	for _, p := range finals(entries) {
		if known[p] || p == "" {
			continue
		}
		known[p] = true
		s, _ := b.s.tree().look(p)
		_ = lines.Encode(end{Decision: decision, Path: exact(p), State: s}) // Flush has the error
	}
	_ = lines.Encode(end{Decision: decision, Whole: true})
	if err := errors.Join(out.Flush(), f.Close()); err != nil {
		return fmt.Errorf("note the changes of decision %s: %w", decision, err)
	}
	return nil
}

func (s Session) tree() tree { return tree{roots: s.Roots, readOnly: s.ReadOnly} }

// List returns the sessions of a directory of stores, the oldest first.
func List(dir string) ([]Session, error) {
	names, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list changed files: %w", err)
	}
	var out []Session
	for _, n := range names {
		if s, ok := read(filepath.Join(dir, n.Name())); ok {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b Session) int { return a.Opened.Compare(b.Opened) })
	return out, nil
}

// Prune removes the stores of sessions from before a time, and then the oldest ones until the others hold at
// most some bytes, which it returns. Stores in use stay.
func Prune(dir string, most int64, before time.Time) (used int64) {
	names, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	slices.SortFunc(names, func(a, b fs.DirEntry) int { return -cmp.Compare(a.Name(), b.Name()) })
	for _, n := range names { // the newest first: their names begin with the time
		home := filepath.Join(dir, n.Name())
		l, err := lock(filepath.Join(home, openFile))
		if err != nil { // it is in use
			size, _ := walked(home)
			used += size
			continue
		}
		if size, last := weigh(home); used+size <= most && last.After(before) {
			used += size
		} else {
			discard(home)
		}
		_ = l.Close()
	}
	return used
}

// discard removes a store.
func discard(home string) {
	if s, ok := read(home); ok && s.Shared != "" {
		_ = os.RemoveAll(s.kept(home))
	}
	_ = os.RemoveAll(home)
}

// read reads the description of a store.
func read(home string) (s Session, ok bool) {
	text, err := os.ReadFile(filepath.Join(home, sessionFile))
	return s, err == nil && json.Unmarshal(text, &s) == nil && s.ID == filepath.Base(home)
}

// weighed are the size and the age of a store that is not in use.
type weighed struct {
	Size int64     `json:"size"`
	Last time.Time `json:"last"`
}

// weigh returns the bytes of a store that is not in use, and the time of its last change. It remembers them.
func weigh(dir string) (int64, time.Time) {
	name := filepath.Join(dir, "weight")
	var w weighed
	text, err := os.ReadFile(name)
	if err == nil && json.Unmarshal(text, &w) == nil {
		return w.Size, w.Last
	}
	w.Size, w.Last = walked(dir)
	if text, err = json.Marshal(w); err == nil {
		_ = os.WriteFile(name, text, 0o600) // else it is weighed again
	}
	return w.Size, w.Last
}

// walked returns the bytes of a store, and the time of the last change.
func walked(home string) (size int64, last time.Time) {
	if s, ok := read(home); ok && s.Shared != "" {
		size, last = below(s.kept(home))
	}
	more, later := below(home)
	if later.After(last) {
		last = later
	}
	return size + more, last
}

func below(dir string) (size int64, last time.Time) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil {
			if info.Mode().IsRegular() {
				size += info.Size()
			}
			if info.ModTime().After(last) {
				last = info.ModTime()
			}
		}
		return nil
	})
	return size, last
}
