package mounts

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/runners/files"
)

// Masks are the placeholders of one session for missing places. A directory records each before it is made,
// so that the next session removes those that a killed one could not. Sessions on the same places share them:
// the last one removes them.
type Masks struct {
	dir    string   // "" when nothing is noted
	record *os.File // locked for as long as the session lives
	made   []noted
}

// noted is one line of a record.
type noted struct {
	Path string `json:"path"`
	Mask
}

const (
	recordEnding = ".masks"
	maxRecord    = 4 << 20
)

// OpenMasks removes the masks of dead sessions, and begins a record. Without a directory nothing is recorded.
func OpenMasks(dir string) (*Masks, error) {
	m := &Masks{dir: dir}
	if dir == "" {
		return m, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("note masks: %w", err)
	}
	unlock, err := m.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := m.sweep(); err != nil {
		return nil, err
	}
	m.record, err = os.OpenFile(filepath.Join(dir, rand.Text()+recordEnding), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("note masks: %w", err)
	}
	if err := lockFile(m.record, false); err != nil {
		return nil, fmt.Errorf("note masks: lock %s: %w", m.record.Name(), err)
	}
	return m, nil
}

// SweepMasks removes the masks of dead sessions. Without earlier sessions, it creates nothing.
func SweepMasks(dir string) error {
	if dir == "" || !exists(dir) {
		return nil
	}
	m, err := OpenMasks(dir)
	if err != nil {
		return err
	}
	return m.Close()
}

// lock keeps other sessions from changing masks meanwhile.
func (m *Masks) lock() (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(m.dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = lockFile(f, true)
	}
	if err != nil {
		return nil, fmt.Errorf("note masks: %w", err)
	}
	return func() { _ = f.Close() }, nil
}

// Put makes a mask, if the place is still missing. An existing file may be the mask of another session: then
// we share it from now on. Else it is left alone.
func (m *Masks) Put(path string, mask Mask) error {
	if m.dir != "" {
		unlock, err := m.lock()
		if err != nil {
			return err
		}
		defer unlock()
	}
	line := noted{path, mask}
	if exists(path) {
		if others, err := m.others(); err != nil || !others[path] {
			return err
		}
		return m.note(line)
	}
	if err := m.note(line); err != nil {
		return err
	}
	var err error
	if mask.Dir {
		err = files.Host{}.Mkdir(path)
	} else {
		_, err = files.Host{}.Write(path, strings.NewReader(mask.Content), engine.WriteOptions{})
	}
	if errors.Is(err, fs.ErrExist) {
		return nil // somebody made it meanwhile
	}
	return err
}

// note writes a line before the action that it describes.
func (m *Masks) note(line noted) error {
	m.made = append(m.made, line)
	if m.record == nil {
		return nil
	}
	b, err := json.Marshal(line)
	if err == nil {
		_, err = m.record.Write(append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("note masks: %w", err)
	}
	return nil
}

// Close takes the masks away that no other session has a share in.
func (m *Masks) Close() error {
	if m.dir == "" {
		return remove(m.made, nil)
	}
	unlock, err := m.lock()
	if err != nil {
		return err
	}
	defer unlock()
	others, err := m.others()
	if err == nil {
		err = remove(m.made, others)
	}
	if err == nil {
		err = os.Remove(m.record.Name())
	}
	m.made = nil
	return errors.Join(err, m.record.Close())
}

// remove takes masks away, unless something else is there by now.
func remove(made []noted, but map[string]bool) error {
	var errs []error
	for i := len(made) - 1; i >= 0; i-- {
		if line := made[i]; !but[line.Path] && line.untouched() {
			if err := (files.Host{}).Remove(line.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// untouched reports whether a mask is as it was made.
func (n noted) untouched() bool {
	host := files.Host{}
	info, err := host.Lstat(n.Path)
	if err != nil {
		return false
	}
	if n.Dir {
		entries, err := host.ReadDir(n.Path)
		return err == nil && len(entries) == 0
	}
	if !info.Mode().IsRegular() || info.Size() != int64(len(n.Content)) {
		return false
	}
	f, err := host.Open(n.Path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, int64(len(n.Content))+1))
	return err == nil && string(b) == n.Content
}

// others returns the masks in which living sessions besides this one have a share. The lock is held.
func (m *Masks) others() (map[string]bool, error) {
	out := map[string]bool{}
	err := m.records(func(f *os.File, living bool) error {
		if living && (m.record == nil || f.Name() != m.record.Name()) {
			for _, line := range lines(f) {
				out[line.Path] = true
			}
		}
		return nil
	})
	return out, err
}

// sweep removes the masks of dead sessions. The lock is held.
func (m *Masks) sweep() error {
	others, err := m.others()
	if err != nil {
		return err
	}
	return m.records(func(f *os.File, living bool) error {
		if living {
			return nil
		}
		if remove(lines(f), others) != nil {
			return nil // a mask that could not be removed stays recorded
		}
		return os.Remove(f.Name())
	})
}

// records shows each record, and whether its session lives.
func (m *Masks) records(see func(f *os.File, living bool) error) error {
	if m.dir == "" {
		return nil
	}
	names, err := filepath.Glob(filepath.Join(globQuoted(m.dir), "*"+recordEnding))
	if err != nil {
		return fmt.Errorf("read masks: %w", err)
	}
	for _, name := range names {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read masks: %w", err)
		}
		err = see(f, lockFile(f, false) != nil)
		_ = f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// globQuoted is a directory as a pattern that matches it alone.
func globQuoted(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// lines reads a record. The last line of a killed session may be cut off: its mask was not made.
func lines(f *os.File) []noted {
	b, err := io.ReadAll(io.LimitReader(f, maxRecord))
	if err != nil {
		return nil
	}
	var out []noted
	for line := range bytes.SplitSeq(b, []byte("\n")) {
		var n noted
		if json.Unmarshal(line, &n) == nil && clean(n.Path) {
			out = append(out, n)
		}
	}
	return out
}
