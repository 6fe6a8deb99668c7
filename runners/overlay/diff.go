package overlay

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/runners/changes"
	"github.com/sallyport-dev/sallyport/runners/files"
)

const (
	// maxChanges bounds the changes of a view: all of them are judged.
	maxChanges = 5000
	// maxDigested bounds a file of which the list has a digest, in bytes, and maxDigests their number.
	maxDigested = 1 << 20
	maxDigests  = 200
	// maxSize bounds the files of a view together, in bytes: applied files are copied.
	maxSize = 1 << 30
	// maxText bounds a file whose texts are kept, and maxTexts all texts together, in bytes.
	maxText  = 64 << 10
	maxTexts = 1 << 20
)

// Diff lists the changes, an outer name before those in it, and a removed one before what replaces it. A
// removed directory is one change. Nothing may run in the view any more. More than 5,000, and files of more
// than 1 GiB, are an error.
func (v *View) Diff() (engine.Changes, error) {
	d := diff{view: v, out: engine.Changes{Whole: true}}
	for i, r := range v.roots {
		upper, err := os.OpenRoot(v.Upper(i))
		if err != nil {
			return engine.Changes{}, fmt.Errorf("list changes: %w", err)
		}
		d.upper, d.top, d.layer = upper, r, v.Upper(i)
		err = d.directory(".")
		_ = upper.Close()
		if err != nil {
			return engine.Changes{}, fmt.Errorf("list changes of %s: %w", r, err)
		}
	}
	return d.out, nil
}

// diff is a list that is being made.
type diff struct {
	view    *View
	upper   *os.Root // the layer of the changes below top
	layer   string   // its path
	top     string
	out     engine.Changes
	digests int
	size    int64 // of the listed files
	texts   int   // bytes that are kept
}

// errTooMany and errTooLarge are why a list is not made.
var (
	errTooMany  = fmt.Errorf("more than %d: let the command do less at once", maxChanges)
	errTooLarge = errors.New("files of more than 1 GiB: let the command write less at once")
)

// Bounded reports, while the view is in use, that Diff will fail by the number or the size of its files.
// Files that cannot be seen count at its end only.
func (v *View) Bounded() error {
	files, size := 0, int64(0)
	for i := range v.roots {
		err := filepath.WalkDir(v.Upper(i), func(_ string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // it is gone, or closed to us
			}
			if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
				files, size = files+1, size+info.Size()
			}
			switch {
			case size > maxSize:
				return errTooLarge
			case files > maxChanges:
				return errTooMany
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("list changes: %w", err)
		}
	}
	return nil
}

func (d *diff) add(c engine.Change) error {
	if len(d.out.List) == maxChanges {
		return errTooMany
	}
	d.out.Count(c.What)
	d.out.List = append(d.out.List, c)
	return nil
}

// directory lists the changes in one directory of the upper layer.
func (d *diff) directory(rel string) error {
	if err := unlock(d.upper, rel); err != nil {
		return err
	}
	f, err := d.upper.Open(rel)
	if err != nil {
		return err
	}
	names, err := f.Readdirnames(-1)
	_ = f.Close()
	if err != nil {
		return err
	}
	slices.Sort(names)
	if err := d.hidden(rel, names); err != nil {
		return err
	}
	for _, name := range names {
		if err := d.entry(filepath.Join(rel, name)); err != nil {
			return err
		}
	}
	return nil
}

// hidden lists the names that a directory without those below it hides.
func (d *diff) hidden(rel string, names []string) error {
	is, err := opaque(filepath.Join(d.layer, rel))
	if err != nil || !is {
		return err
	}
	was, err := d.below(rel)
	if err != nil || was == nil || !was.IsDir() {
		return err
	}
	entries, err := (files.Host{}).ReadDir(filepath.Join(d.top, rel))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !slices.Contains(names, e.Name()) {
			if info, err := e.Info(); err != nil {
				return err
			} else if err := d.remove(filepath.Join(rel, e.Name()), info); err != nil {
				return err
			}
		}
	}
	return nil
}

// below describes a name as the directory of the user has it; nil for none.
func (d *diff) below(rel string) (fs.FileInfo, error) {
	info, err := (files.Host{}).Lstat(filepath.Join(d.top, rel))
	if absent(err) || errors.Is(err, files.ErrChanged) {
		return nil, nil
	}
	return info, err
}

// absent reports that there is nothing: also below a file in place of a directory.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

func (d *diff) remove(rel string, was fs.FileInfo) error {
	c := engine.Change{Path: filepath.Join(d.top, rel), What: engine.Removed, Mode: was.Mode().String()}
	if before, ok := d.before(rel, was); ok && was.Mode().IsRegular() {
		d.keep(&c, before, "")
	}
	return d.add(c)
}

// keep keeps the texts of a change, as long as there are few.
func (d *diff) keep(c *engine.Change, before, after string) {
	if d.texts += len(before) + len(after); d.texts <= maxTexts {
		c.Texts = &engine.Texts{Before: before, After: after}
	}
}

// before is the text of a file of the user, "" for none.
func (d *diff) before(rel string, was fs.FileInfo) (text string, ok bool) {
	if was == nil {
		return "", true
	}
	f, err := (files.Host{}).Open(filepath.Join(d.top, rel))
	if err != nil {
		return "", false
	}
	defer f.Close()
	return textOf(f)
}

// after is the text of a file of the upper layer.
func (d *diff) after(rel string) (text string, ok bool) {
	f, err := openIn(d.upper, rel)
	if err != nil {
		return "", false
	}
	defer f.Close()
	return textOf(f)
}

// textOf reads a short text of people.
func textOf(f io.Reader) (string, bool) {
	b, err := io.ReadAll(io.LimitReader(f, maxText+1))
	return string(b), err == nil && len(b) <= maxText && utf8.Valid(b) && !bytes.ContainsRune(b, 0)
}

// entry lists the change of one name of the upper layer, and those below it.
func (d *diff) entry(rel string) error {
	now, err := d.upper.Lstat(rel)
	if err != nil {
		return err
	}
	was, err := d.below(rel)
	if err != nil {
		return err
	}
	if removed(now) {
		if was == nil {
			return nil // somebody else removed it as well
		}
		return d.remove(rel, was)
	}
	if was != nil && was.Mode().Type() != now.Mode().Type() {
		if err := d.remove(rel, was); err != nil {
			return err
		}
		was = nil
	}
	if was == nil || now.Mode() != was.Mode() || !now.IsDir() {
		if err := d.differs(rel, now, was); err != nil {
			return err
		}
	}
	if now.IsDir() {
		return d.directory(rel)
	}
	return nil
}

// differs lists a name that is new or that may have changed.
func (d *diff) differs(rel string, now, was fs.FileInfo) error {
	c := engine.Change{
		Path: filepath.Join(d.top, rel), What: engine.Created, Mode: now.Mode().String(), Size: now.Size(),
	}
	if was != nil {
		c.What = engine.Changed
	}
	switch {
	case now.Mode()&fs.ModeSymlink != 0:
		var err error
		if c.Link, err = d.upper.Readlink(rel); err != nil {
			return err
		}
		before, _ := (files.Host{}).ReadLink(c.Path)
		if was != nil && before == c.Link {
			return nil
		}
	case now.Mode().IsRegular():
		same, err := d.same(rel, now, was)
		if err != nil || same {
			return err
		}
		if d.size += now.Size(); d.size > maxSize {
			return errTooLarge
		}
		if c.SHA256, err = d.digest(rel, now); err != nil {
			return err
		}
		before, readable := d.before(rel, was)
		if after, ok := d.after(rel); ok && readable {
			d.keep(&c, before, after)
		}
	}
	return d.add(c)
}

// same reports a file that was copied into the upper layer and is as it was: opened for writing, for example.
func (d *diff) same(rel string, now, was fs.FileInfo) (bool, error) {
	if was == nil || now.Mode() != was.Mode() || now.Size() != was.Size() ||
		!now.ModTime().Equal(was.ModTime()) {
		return false, nil
	}
	before, err := (files.Host{}).Open(filepath.Join(d.top, rel))
	if err != nil {
		return false, nil // not known to be the same
	}
	defer before.Close()
	after, err := openIn(d.upper, rel)
	if err != nil {
		return false, err
	}
	defer after.Close()
	a, b := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, first := io.ReadFull(before, a)
		m, second := io.ReadFull(after, b)
		if !bytes.Equal(a[:n], b[:m]) {
			return false, nil
		}
		if first != nil || second != nil {
			return atEnd(first) && atEnd(second), nil
		}
	}
}

func atEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// digest is the digest of a file, "" for one that is long or not among the first.
func (d *diff) digest(rel string, info fs.FileInfo) (string, error) {
	if info.Size() > maxDigested || d.digests == maxDigests {
		return "", nil
	}
	d.digests++
	f, err := openIn(d.upper, rel)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, maxDigested+1)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// unlock lets us list a directory of the upper layer.
func unlock(root *os.Root, rel string) error {
	info, err := root.Lstat(rel)
	if err != nil || info.Mode()&0o500 == 0o500 {
		return err
	}
	return root.Chmod(rel, info.Mode().Perm()|0o700)
}

// openIn opens a regular file of the upper layer.
func openIn(root *os.Root, rel string) (*os.File, error) {
	info, err := root.Lstat(rel)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: rel, Err: fs.ErrInvalid}
	}
	f, err := root.Open(rel)
	if !errors.Is(err, fs.ErrPermission) {
		return f, err
	}
	if err := root.Chmod(rel, info.Mode().Perm()|0o400); err != nil {
		return nil, err
	}
	defer func() { _ = root.Chmod(rel, info.Mode().Perm()) }()
	return root.Open(rel)
}

// Lstat describes a name after the command, by its path in the view.
func (v *View) Lstat(path string) (fs.FileInfo, error) {
	i, rel, ok := v.Root(path)
	if !ok {
		return nil, &fs.PathError{Op: "lstat", Path: path, Err: fs.ErrNotExist}
	}
	root, err := os.OpenRoot(v.Upper(i))
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return root.Lstat(rel)
}

// Open reads a file that was made or changed, by its path in the view.
func (v *View) Open(path string) (io.ReadCloser, error) {
	i, rel, ok := v.Root(path)
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	root, err := os.OpenRoot(v.Upper(i))
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return openIn(root, rel)
}

// Conflicts lists the changed names that others have changed, too, since the view was made.
func (v *View) Conflicts(c engine.Changes) (paths []string) {
	for _, one := range c.List {
		if !v.untouched(one) {
			paths = append(paths, one.Path)
		}
	}
	return paths
}

// untouched reports a name that is as it was when the view was made. What cannot be looked at has changed.
func (v *View) untouched(c engine.Change) bool {
	info, err := (files.Host{}).Lstat(c.Path)
	if absent(err) {
		return c.What == engine.Created && !v.gone(c.Path)
	}
	if err != nil || !v.old(info) && !info.IsDir() {
		return false
	}
	switch {
	case c.What == engine.Created: // or it replaces what is listed as removed
		return v.replaces(c.Path)
	case c.What == engine.Removed && info.IsDir():
		whole := v.old(info)
		changes.Walk([]string{c.Path}, func(_ string, entries []fs.DirEntry) {
			for _, e := range entries {
				below, err := e.Info()
				whole = whole && err == nil && v.old(below)
			}
		})
		return whole
	}
	return true
}

// replaces reports a new name that the view shows in place of another one.
func (v *View) replaces(path string) bool {
	now, err := v.Lstat(path)
	was, failed := (files.Host{}).Lstat(path)
	return err == nil && failed == nil && now.Mode().Type() != was.Mode().Type() && v.old(was)
}

// gone reports a new name that may have been there when the view was made: the file is the copy of one that
// was, and its directory has changed since.
func (v *View) gone(path string) bool {
	i, rel, ok := v.Root(path)
	if !ok || !hasOrigin(filepath.Join(v.Upper(i), rel)) {
		return false
	}
	dir, err := (files.Host{}).Lstat(filepath.Dir(path))
	return err == nil && !v.old(dir)
}

// old reports a file that was last changed before the view was made. Files that were changed in the same
// tick of the clock have changed since; some file systems count whole seconds.
func (v *View) old(info fs.FileInfo) bool {
	at, err := changedAt(info)
	begun := v.begun
	if at.Nanosecond() == 0 {
		begun = begun.Truncate(time.Second)
	}
	return err == nil && at.Before(begun)
}
