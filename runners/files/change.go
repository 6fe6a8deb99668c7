package files

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/sallyport-dev/sallyport/engine"
)

// Mkdir makes a directory and those above it.
func (h Host) Mkdir(path string) error {
	dir, err := h.directory(path, true)
	if err != nil {
		return fail("make directory", path, err)
	}
	return fail("make directory", path, dir.Close())
}

// Symlink makes a symbolic link.
func (h Host) Symlink(target, path string) error {
	a, err := h.walk(path, true)
	if err != nil {
		return fail("link", path, err)
	}
	defer a.close()
	return fail("link", path, a.dir.Symlink(target, a.name))
}

// Chmod gives a file or a directory permission bits, without those that change the user or the group.
func (h Host) Chmod(path string, mode fs.FileMode) error {
	const op = "change the mode of"
	a, err := h.walk(path, false)
	if err != nil {
		return fail(op, path, err)
	}
	defer a.close()
	info, err := a.dir.Lstat(a.name)
	if err == nil && !info.IsDir() {
		err = regular(info)
	}
	if err == nil {
		err = a.dir.Chmod(a.name, mode.Perm())
	}
	return fail(op, path, err)
}

// Remove removes one file, symbolic link or empty directory.
func (h Host) Remove(path string) error {
	a, err := h.walk(path, false)
	if err != nil {
		return fail("delete", path, err)
	}
	defer a.close()
	return fail("delete", path, a.dir.Remove(a.name))
}

// Unlock lets the owner of the directory around a path list and change it.
func (h Host) Unlock(path string) error {
	a, err := h.walk(path, false)
	if err != nil {
		return fail("change the mode around", path, err)
	}
	defer a.close()
	info, err := a.dir.Stat(".")
	if err == nil {
		err = a.dir.Chmod(".", info.Mode()|0o700)
	}
	return fail("change the mode around", path, err)
}

// Rename gives a file another name in its directory, which must be free.
func (h Host) Rename(path, name string) error {
	a, err := h.walk(path, false)
	if err != nil {
		return fail("rename", path, err)
	}
	defer a.close()
	if _, err := a.dir.Lstat(name); err == nil {
		return fail("rename", path, fs.ErrExist)
	}
	return fail("rename", path, a.dir.Rename(a.name, name))
}

// Write makes a file beside its place and moves it there when it is complete. Of a file that is
// replaced the mode and the owner are kept, not its access lists and extended attributes. Directories
// that it made stay when it fails, and a process that is killed in the middle leaves its draft
// (.sallyport-…).
func (h Host) Write(path string, content io.Reader, o engine.WriteOptions) (int64, error) {
	const op = "write"
	a, err := h.walk(path, true)
	if err != nil {
		return 0, fail(op, path, err)
	}
	defer a.close()
	old, err := a.dir.Lstat(a.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case err != nil:
		return 0, fail(op, path, err)
	case !o.Replace:
		return 0, fail(op, path, fs.ErrExist)
	default:
		if err := regular(old); err != nil {
			return 0, fail(op, path, err)
		}
	}
	d := draft{dir: a.dir, name: ".sallyport-" + rand.Text(), old: old, like: o.Like}
	defer func() { _ = d.discard() }() // also when content panics
	n, err := d.fill(content)
	if err == nil {
		err = d.place(a.name, o.Replace)
	}
	if left := d.discard(); left != nil {
		err = errors.Join(err, left)
	}
	return n, fail(op, path, err)
}

// draft is a file that is being written, under a name that nobody uses.
type draft struct {
	dir  *os.Root
	name string
	old  fs.FileInfo // the replaced file, or nil
	like fs.FileInfo // the original of a copy, or nil
	file *os.File    // while it is open
	made fs.FileInfo // the file as it was made, while it has the draft's name
}

// fill writes the draft and closes it.
func (d *draft) fill(content io.Reader) (n int64, err error) {
	mode := fs.FileMode(0o666)
	if d.old != nil || d.like != nil {
		mode = 0o600 // until it has the mode that it shall have, nobody else reads it
	}
	if d.file, err = d.dir.OpenFile(d.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode); err != nil {
		return 0, err
	}
	if d.made, err = d.file.Stat(); err != nil {
		return 0, err
	}
	if n, err = io.Copy(d.file, content); err != nil {
		return n, err
	}
	if err = d.imitate(); err != nil {
		return n, err
	}
	f := d.file
	d.file = nil
	if err = f.Close(); err != nil {
		return n, err
	}
	if d.like != nil {
		err = d.dir.Chtimes(d.name, d.like.ModTime(), d.like.ModTime())
	}
	return n, err
}

// imitate gives the draft the mode of the file that it replaces, or of the one that it is a copy of,
// without the bits that change the user or the group.
func (d *draft) imitate() error {
	model := d.like
	if d.old != nil {
		keepOwner(d.file, d.old)
		model = d.old
	}
	if model == nil {
		return nil
	}
	return d.file.Chmod(model.Mode().Perm())
}

// place gives the complete file its name. Without replace a file that has come there meanwhile stays.
func (d *draft) place(name string, replace bool) error {
	if replace {
		return d.moved(d.dir.Rename(d.name, name))
	}
	for _, way := range []func(*draft, string) error{byRename, byLink, byCopy} {
		if err := way(d, name); !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	return errors.ErrUnsupported
}

// byRename is one step, where the system has it.
func byRename(d *draft, name string) error {
	return d.moved(renameNew(d.dir, d.name, name))
}

// moved notes the effect of a rename.
func (d *draft) moved(err error) error {
	if err == nil {
		d.made = nil
	}
	return err
}

// byLink gives the file both names; the draft's is discarded.
func byLink(d *draft, name string) error {
	err := d.dir.Link(d.name, name)
	if linksUnsupported(bare(err)) {
		return errors.ErrUnsupported
	}
	return err
}

// byCopy is for file systems that have neither. It makes the file under its name, where nothing may
// be, and fills it there: others can see it grow, but nothing of theirs is lost.
func byCopy(d *draft, name string) (err error) {
	from, err := d.dir.Open(d.name)
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	copied := draft{dir: d.dir, name: name, like: info}
	if _, err = copied.fill(from); err == nil {
		return nil
	}
	if left := copied.discard(); left != nil {
		err = errors.Join(err, left)
	}
	return err
}

// discard removes the draft, if it is still there, and nothing else that may have come in its place.
func (d *draft) discard() error {
	if d.file != nil {
		_ = d.file.Close()
		d.file = nil
	}
	if d.made == nil {
		return nil
	}
	made := d.made
	d.made = nil
	if now, err := d.dir.Lstat(d.name); err != nil || !os.SameFile(made, now) {
		return nil // somebody else has taken it away
	}
	return d.dir.Remove(d.name)
}
