package boundary

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/runners/files"
)

// Entry is a held file. It is kept below the store in a directory of its own, named by the decision and a
// number, as entry.json and content.
type Entry struct {
	ID       string        `json:"id"` // DECISION.NUMBER
	Path     string        `json:"path"`
	Time     time.Time     `json:"time"`
	Effect   engine.Effect `json:"effect"`  // of the decision
	Message  string        `json:"message"` // why it is held
	Link     bool          `json:"link"`    // a symbolic link: the content is its target
	Execute  bool          `json:"execute"` // it may be executed
	SHA256   string        `json:"sha256"`  // of the content, hex
	Left     string        `json:"left"`    // SHA256 of the version that took its place; "" for none
	Released bool          `json:"released"`
}

// Decision is the decision by which the file is held.
func (e Entry) Decision() string {
	d, _, _ := strings.Cut(e.ID, ".")
	return d
}

const (
	// maxHeld bounds a file of the store, in bytes. A longer one stays beside its place, under another name.
	maxHeld = 16 << 20

	entryFile, contentFile = "entry.json", "content"
)

// errTooLong is the error for a file beyond such a bound.
var errTooLong = errors.New("it is too long")

// digest is the SHA-256 of a version in hex, by which a release is known again.
func (i image) digest(p string) string {
	content := i.content
	if content == nil {
		var err error
		if content, err = read(p, maxHeld); err != nil {
			return ""
		}
	}
	return sum(content)
}

func sum(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }

// Hold moves files that Leave named into the store. The earlier version takes the place of each; of a new
// configuration of git its plain settings do.
func (b *Boundary) Hold(decision string, all []engine.Held) []engine.Held {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := slices.Clone(all)
	for n := range out {
		h := &out[n]
		delete(b.left, h.Path)
		h.ID = fmt.Sprintf("%s.%d", decision, n+1)
		h.Left, h.Error = "nothing", ""
		now, _ := b.imageOf(h.Path)
		delete(b.failed, h.Path)
		if err := b.hold(h); err != nil {
			h.Error, b.failed[h.Path] = err.Error(), now
		}
	}
	b.settle()
	return out
}

func (b *Boundary) hold(h *engine.Held) error {
	now, ok := b.imageOf(h.Path)
	if !ok {
		return nil // gone by itself
	}
	e := Entry{
		ID: h.ID, Path: h.Path, Time: time.Now().UTC(), Effect: h.Effect, Message: h.Message,
		Link: now.mode&fs.ModeSymlink != 0, Execute: now.mode&0o100 != 0,
	}
	content, err := now.content, error(nil)
	if content == nil {
		content, err = read(h.Path, maxHeld)
	}
	e.SHA256 = sum(content)
	back, ok := b.back(h.Path, string(content))
	if ok {
		e.Left, h.Left = sum(back.content), back.left
	}
	if err == nil {
		err = b.keep(e, content)
	}
	if err != nil {
		return b.aside(err, h, back, ok)
	}
	return replace(h.Path, back, ok)
}

// aside renames a file that cannot be kept, for want of space or for its length: nothing obeys its new name.
// It returns why the file cannot be kept.
func (b *Boundary) aside(why error, h *engine.Held, back version, some bool) error {
	name := ".held-" + h.ID
	rename := func() error { return (files.Host{}).Rename(h.Path, name) }
	if err := unlocked(h.Path, rename); err != nil {
		return errors.Join(why, err)
	}
	why = fmt.Errorf("%w: it is named %s now", why, filepath.Join(filepath.Dir(h.Path), name))
	if !some {
		return why
	}
	return errors.Join(why, put(h.Path, back))
}

// unlocked calls do, which changes the directory around a path, again if the mode of that forbids it.
func unlocked(p string, do func() error) error {
	err := do()
	if errors.Is(err, fs.ErrPermission) && (files.Host{}).Unlock(p) == nil {
		return do()
	}
	return err
}

// version is a version of a file that takes the place of a held one.
type version struct {
	image
	left string // its name in an outcome
}

// back is the version that takes the place of a held file, if there is one.
func (b *Boundary) back(p, content string) (version, bool) {
	if before := b.before[p]; before.content != nil {
		return version{before, "its earlier version"}, true
	}
	dir, base := filepath.Split(p)
	if base != "config" && base != "config.worktree" {
		return version{}, false
	}
	plain := b.plain(filepath.Clean(dir), content, nil)
	if !strings.Contains(plain, " = ") {
		return version{}, false // only headings
	}
	return version{image{mode: 0o644, content: []byte(plain), time: time.Now()}, "its plain settings"}, true
}

// replace puts another version in the place of a file, or none.
func replace(p string, v version, some bool) error {
	remove := func() error { return (files.Host{}).Remove(p) }
	if err := unlocked(p, remove); err != nil || !some {
		return err
	}
	return put(p, v)
}

// put makes a file of a version.
func put(p string, v version) error {
	if v.mode&fs.ModeSymlink != 0 {
		return (files.Host{}).Symlink(string(v.content), p)
	}
	like := engine.WriteOptions{Like: likeness{v.image}}
	_, err := (files.Host{}).Write(p, bytes.NewReader(v.content), like)
	return err
}

// keep writes an entry of the store.
func (b *Boundary) keep(e Entry, content []byte) error {
	dir := filepath.Join(b.o.Store, e.ID)
	if b.o.Store == "" {
		return errors.New("there is no place to keep it: set $XDG_STATE_HOME")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("hold %s: %w", e.Path, err)
	}
	if err := os.WriteFile(filepath.Join(dir, contentFile), content, 0o600); err != nil {
		return fmt.Errorf("hold %s: %w", e.Path, err)
	}
	return e.write(b.o.Store)
}

func (e Entry) write(store string) error {
	text, err := json.Marshal(e)
	if err == nil {
		err = os.WriteFile(filepath.Join(store, e.ID, entryFile), append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("hold %s: %w", e.Path, err)
	}
	return nil
}

// Released reports whether a person released a version of the file at a path.
func (b *Boundary) Released(path string) bool {
	all, err := List(b.o.Store)
	return err == nil && slices.ContainsFunc(all, func(e Entry) bool { return e.Released && e.Path == path })
}

// released returns path and digest of the versions that a person released.
func (b *Boundary) released() map[string]bool {
	all, err := List(b.o.Store)
	if err != nil {
		return nil
	}
	out := map[string]bool{}
	for _, e := range all {
		if e.Released {
			out[e.Path+"\x00"+e.SHA256] = true
		}
	}
	return out
}

// List returns the entries of a store, the oldest first, the released ones too.
func List(store string) ([]Entry, error) {
	dirs, err := os.ReadDir(store)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || store == "" {
		return nil, fmt.Errorf("list held files: %w", err)
	}
	var out []Entry
	for _, d := range dirs {
		text, err := os.ReadFile(filepath.Join(store, d.Name(), entryFile))
		var e Entry
		if err == nil && json.Unmarshal(text, &e) == nil && e.ID == d.Name() {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b Entry) int { return a.Time.Compare(b.Time) })
	return out, nil
}

// Find returns the entries of a store that are not released and that an id names: that of an entry, of a
// decision, or a part of its beginning that no other has.
func Find(store, id string) ([]Entry, error) {
	all, err := List(store)
	if err != nil {
		return nil, err
	}
	var out []Entry
	for _, e := range all {
		if e.ID == id || e.Decision() == id {
			return slices.DeleteFunc(all, func(o Entry) bool {
				return o.Released || o.ID != id && o.Decision() != id
			}), nil
		}
		if strings.HasPrefix(e.ID, id) && !e.Released {
			out = append(out, e)
		}
	}
	for _, e := range out {
		if e.Decision() != out[0].Decision() {
			return nil, fmt.Errorf("release %s: more than one decision begins so: name more of it", id)
		}
	}
	if len(out) == 0 || id == "" {
		return nil, fmt.Errorf("release %s: no file is held by this id: sallyport env held lists them", id)
	}
	return out, nil
}

// Release puts a held file back. It refuses if the file at its place is not the one that Hold left there.
func Release(store string, e Entry) error {
	content, err := os.ReadFile(filepath.Join(store, e.ID, contentFile))
	if err != nil {
		return fmt.Errorf("release %s: %w", e.Path, err)
	}
	if sum(content) != e.SHA256 {
		return fmt.Errorf("release %s: the store holds another content than its entry says", e.Path)
	}
	now := ""
	i, ok := (&Boundary{}).imageOf(e.Path)
	if ok {
		now = i.digest(e.Path)
	}
	if now != e.Left {
		return fmt.Errorf("release %s: the file was changed since it was held: compare it with %s, then "+
			"remove one of them", e.Path, filepath.Join(store, e.ID, contentFile))
	}
	v := version{image: image{mode: 0o644, content: content, time: time.Now()}}
	switch {
	case e.Link:
		v.mode = fs.ModeSymlink
	case e.Execute:
		v.mode = 0o755
	}
	// Noted first: the look at the end of a running command must know it.
	e.Released = true
	if err := e.write(store); err != nil {
		return err
	}
	if ok {
		err = replace(e.Path, v, true)
	} else {
		err = put(e.Path, v)
	}
	if err != nil {
		e.Released = false
		return errors.Join(err, e.write(store))
	}
	return nil
}

// likeness describes a file with the mode and the time of a version.
type likeness struct{ i image }

func (l likeness) Name() string       { return "" }
func (l likeness) Size() int64        { return l.i.size }
func (l likeness) Mode() fs.FileMode  { return l.i.mode.Perm() }
func (l likeness) ModTime() time.Time { return l.i.time }
func (l likeness) IsDir() bool        { return false }
func (l likeness) Sys() any           { return nil }
