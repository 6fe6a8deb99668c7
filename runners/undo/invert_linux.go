package undo

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/runners/changes"
)

// invert takes one change back. Each change finds the files where it left them, since the later ones are
// taken back already. It does nothing if the change was not made, or is taken back.
func (u *undoer) invert(i int, e *Entry) error {
	p := string(e.Path)
	switch e.Op {
	case opMake:
		return u.unmake(i, e, p)
	case opWrite:
		return u.unwrite(i, e, p)
	case opMode:
		return u.unmode(i, e, p)
	case opRemove:
		if e.Made {
			return u.write(step{Decision: e.Decision, Entry: i + 1})
		}
		return u.recreate(i, e, p)
	case opMove:
		return u.unmove(i, e, p)
	case opSwap:
		return u.unswap(i, e, p)
	}
	return fmt.Errorf("the record has an unknown change %q", e.Op)
}

// finish notes that a change is taken back. Unless p is "", the file there stands for another one from now
// on.
func (u *undoer) finish(i int, e *Entry, p string, was State) error {
	s := step{Decision: e.Decision, Entry: i + 1}
	if p != "" {
		now, err := u.tree.look(p)
		if err != nil {
			return err
		}
		s.Path, s.Now, s.Was = exact(p), now, was
	}
	return u.write(s)
}

// unmake removes a file that the command made.
func (u *undoer) unmake(i int, e *Entry, p string) error {
	now := u.view(p)
	switch {
	case now.Kind == "":
	case !now.is(e.State):
		return conflict("another file is there now")
	default:
		if err := u.unghost(e, p); err != nil {
			return err
		}
		if err := u.drop(e, p, now.Kind); err != nil {
			return err
		}
		u.tell(e, p, Removed, "")
	}
	return u.finish(i, e, "", State{})
}

// drop removes the file at a path if it is the one that was just looked at there.
func (u *undoer) drop(e *Entry, p, kind string) error {
	expected, err := u.tree.look(p)
	if err != nil || expected.Kind == "" {
		return err
	}
	return u.tree.do(p, func(dir int, name string) error {
		if kind == kindDir {
			err := unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
			if errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) {
				return conflict("it holds other files")
			}
			return err
		}
		aside, err := u.temporaryName(e, p)
		if err != nil {
			return err
		}
		if err := renameNew(dir, name, aside); err != nil {
			return err
		}
		if got, _, err := look(dir, aside); err != nil || !got.same(expected) {
			return errors.Join(conflict("somebody changed it in this moment"), renameNew(dir, aside, name))
		}
		return unix.Unlinkat(dir, aside, 0)
	})
}

// renameNew renames in a directory, unless the new name is there.
func renameNew(dir int, from, to string) error {
	err := unix.Renameat2(dir, from, dir, to, unix.RENAME_NOREPLACE)
	if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) {
		return err
	}
	var st unix.Stat_t
	if unix.Fstatat(dir, to, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
		return unix.EEXIST
	}
	return unix.Renameat(dir, from, dir, to)
}

// temporaryName returns a free name beside a path, and notes it.
func (u *undoer) temporaryName(e *Entry, p string) (string, error) {
	name := ".sallyport-undo-" + rand.Text()[:16]
	return name, u.write(step{Decision: e.Decision, Temporary: exact(path.Join(path.Dir(p), name))})
}

// unwrite puts the earlier content of a file back.
func (u *undoer) unwrite(i int, e *Entry, p string) error {
	now := u.view(p)
	switch {
	case now.same(e.State) && !u.halfway[i]:
		u.tell(e, p, Restored, "")
		return u.finish(i, e, "", State{})
	case !now.is(e.State):
		if !u.holds(p, e, e.State) {
			return conflict("another file is there now")
		}
		u.tell(e, p, Restored, "") // by an Undo that was interrupted
		return u.finish(i, e, p, e.State)
	case e.Sum == "":
		return u.miss(i, e, p, e.State)
	}
	real, err := u.tree.look(p)
	if err != nil {
		return err
	}
	if real.Kind == "" {
		return u.finish(i, e, p, e.State) // the file is made by an undone decision, and goes in the end
	}
	if real.Links > 1 {
		err = u.overwrite(e, p)
	} else {
		err = u.replace(e, p, real, e.State)
	}
	if err != nil {
		return err
	}
	u.tell(e, p, Restored, "")
	return u.finish(i, e, p, e.State)
}

// miss handles a lost file without pre-image. A file that an undone decision made is not missed.
func (u *undoer) miss(i int, e *Entry, p string, lost State) error {
	if u.made[fileOf(lost)] {
		return u.finish(i, e, p, lost)
	}
	if err := u.finish(i, e, "", State{}); err != nil {
		return err
	}
	return &kept{Lost, e.Lack}
}

// holds reports whether the file at a path has the content and the mode of a lost one.
func (u *undoer) holds(p string, e *Entry, lost State) bool {
	now, err := u.tree.look(p)
	if err != nil || now.Kind != lost.Kind || now.Kind != kindLink && now.Mode&0o777 != lost.Mode&0o777 {
		return false
	}
	same := false
	err = u.tree.do(p, func(dir int, name string) error {
		switch now.Kind {
		case kindLink:
			var buf [4096]byte
			n, err := unix.Readlinkat(dir, name, buf[:])
			same = err == nil && exact(buf[:n]) == e.Link
		case kindDir:
			same = true
		case kindFile:
			if now.Size != lost.Size {
				return nil
			}
			const flags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
			fd, err := unix.Openat(dir, name, flags, 0)
			if err != nil {
				return err
			}
			f := os.NewFile(uintptr(fd), name)
			defer f.Close()
			hash := sha256.New()
			_, err = io.Copy(hash, f)
			same = err == nil && hex.EncodeToString(hash.Sum(nil)) == e.Sum
		}
		return nil
	})
	return err == nil && same
}

// bits are the bits of a mode that are restored.
const bits = 0o1777

// mode returns a lost mode. A bit by which a program gets rights stays if both have it, and never comes back.
func mode(lost, now uint32) uint32 { return lost&bits | lost&now&^bits&0o7777 }

// content writes a pre-image to a file, and gives it the mode and the time of the lost one.
func (u *undoer) content(sum string, lost State, out *os.File) error {
	hash := sha256.New()
	if sum != emptySum {
		if len(sum) != 2*sha256.Size || filepath.Base(sum) != sum {
			return errors.New("the record names no pre-image")
		}
		objects, err := os.OpenRoot(filepath.Join(u.s.kept(u.home), objectsDir))
		if err != nil {
			return err
		}
		defer func() { _ = objects.Close() }()
		in, err := objects.Open(sum)
		if err != nil {
			return err
		}
		defer in.Close()
		if _, err := io.Copy(io.MultiWriter(out, hash), in); err != nil {
			return err
		}
	}
	if hex.EncodeToString(hash.Sum(nil)) != sum {
		return &kept{Lost, "its pre-image is damaged"}
	}
	return dress(int(out.Fd()), lost)
}

// dress gives an open file the mode and the time of a lost one.
func dress(fd int, lost State) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if err := unix.Fchmod(fd, mode(lost.Mode, st.Mode)); err != nil {
		return err
	}
	t := unix.NsecToTimespec(lost.Time)
	name := "/proc/self/fd/" + strconv.Itoa(fd)
	return unix.UtimesNanoAt(unix.AT_FDCWD, name, []unix.Timespec{{Nsec: unix.UTIME_OMIT}, t}, 0)
}

// beside makes the lost file under a temporary name beside a path. If we are root, it gets the owner of the
// file at the path, or of the directory.
func (u *undoer) beside(e *Entry, p string, dir int, lost State) (string, error) {
	name, err := u.create(e, p, dir, lost)
	if err != nil || os.Geteuid() != 0 {
		return name, err
	}
	var st unix.Stat_t
	err = unix.Fstatat(dir, path.Base(p), &st, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOENT) {
		err = unix.Fstatat(dir, "", &st, unix.AT_EMPTY_PATH)
	}
	if err == nil {
		err = unix.Fchownat(dir, name, int(st.Uid), int(st.Gid), unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil {
		remove(dir, name)
	}
	return name, err
}

func (u *undoer) create(e *Entry, p string, dir int, lost State) (string, error) {
	name, err := u.temporaryName(e, p)
	if err != nil {
		return "", err
	}
	switch lost.Kind {
	case kindLink:
		return name, unix.Symlinkat(string(e.Link), dir, name)
	case kindDir:
		if err := unix.Mkdirat(dir, name, 0o700); err != nil {
			return "", err
		}
		return name, unix.Fchmodat(dir, name, lost.Mode&bits, 0)
	}
	const flags = unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Openat(dir, name, flags, 0o600)
	if err != nil {
		return "", err
	}
	f := os.NewFile(uintptr(fd), name)
	if err := errors.Join(u.content(e.Sum, lost, f), f.Close()); err != nil {
		_ = unix.Unlinkat(dir, name, 0)
		return "", err
	}
	return name, nil
}

// remove removes a temporary file or directory.
func remove(dir int, name string) {
	if errors.Is(unix.Unlinkat(dir, name, 0), unix.EISDIR) {
		_ = unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
	}
}

// replace puts the lost file in the place of the one that is expected at a path. Both are exchanged, so that
// another file which came there in this moment comes back.
func (u *undoer) replace(e *Entry, p string, expected, lost State) error {
	return u.tree.do(p, func(dir int, name string) error {
		temporary, err := u.beside(e, p, dir, lost)
		if err != nil {
			return err
		}
		err = unix.Renameat2(dir, temporary, dir, name, unix.RENAME_EXCHANGE)
		if errors.Is(err, unix.EINVAL) {
			return unix.Renameat(dir, temporary, dir, name) // this file system cannot exchange
		}
		if err == nil {
			if got, _, failed := look(dir, temporary); failed != nil || !got.same(expected) {
				err = errors.Join(conflict("somebody changed it in this moment"),
					unix.Renameat2(dir, temporary, dir, name, unix.RENAME_EXCHANGE))
			}
		}
		return errors.Join(err, unix.Unlinkat(dir, temporary, 0))
	})
}

// overwrite writes the earlier content into a file with several names, which all keep it.
func (u *undoer) overwrite(e *Entry, p string) error {
	return u.tree.do(p, func(dir int, name string) error {
		const flags = unix.O_WRONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
		fd, err := unix.Openat(dir, name, flags, 0)
		if errors.Is(err, unix.EACCES) {
			if err = unix.Fchmodat(dir, name, 0o600, unix.AT_SYMLINK_NOFOLLOW); err == nil {
				fd, err = unix.Openat(dir, name, flags, 0)
			}
		}
		if err != nil {
			return err
		}
		f := os.NewFile(uintptr(fd), name)
		defer f.Close()
		if now, _, err := look(fd, ""); err != nil || now.Inode != e.State.Inode && now.Kind != kindFile {
			return conflict("another file is there now")
		}
		if err := f.Truncate(0); err != nil {
			return err
		}
		return u.content(e.Sum, e.State, f)
	})
}

// unmode puts the earlier mode back.
func (u *undoer) unmode(i int, e *Entry, p string) error {
	now := u.view(p)
	if now.Kind != "" && !now.is(e.State) {
		return conflict("another file is there now")
	}
	err := u.tree.do(p, func(dir int, name string) error {
		fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(fd) }()
		real, _, err := look(fd, "")
		if err != nil || real.Kind == kindLink {
			return err
		}
		own := "/proc/self/fd/" + strconv.Itoa(fd)
		return unix.Fchmodat(unix.AT_FDCWD, own, mode(e.State.Mode, real.Mode), 0)
	})
	if errors.Is(err, unix.ENOENT) && now.Kind != "" {
		return u.finish(i, e, "", State{}) // of a file that is not there any more
	}
	if err != nil {
		return err
	}
	u.tell(e, p, Restored, "")
	now.Mode = e.State.Mode
	return u.finish(i, e, p, now)
}

// recreate makes a lost file again at a path where nothing is.
func (u *undoer) recreate(i int, e *Entry, p string) error {
	lost := e.lost()
	if now := u.view(p); now.Kind != "" {
		switch {
		case now.is(lost): // the change was not made
			return u.finish(i, e, "", State{})
		case u.holds(p, e, lost):
			u.tell(e, p, Restored, "")
			return u.finish(i, e, p, lost)
		}
		return conflict("another file is there now")
	}
	if lost.Kind == kindFile && e.Sum == "" || lost.Kind == kindLink && e.Lack != "" {
		return u.missing(i, e, p, lost)
	}
	var err error
	switch lost.Kind {
	case kindFile, kindLink, kindDir:
		if lost.Kind == kindFile && lost.Links > 1 && u.relink(p, lost) {
			break
		}
		err = u.tree.do(p, func(dir int, name string) error {
			temporary, err := u.beside(e, p, dir, lost)
			if err != nil {
				return err
			}
			if err = renameNew(dir, temporary, name); err != nil {
				remove(dir, temporary)
			}
			return err
		})
	default:
		if err := u.finish(i, e, "", State{}); err != nil {
			return err
		}
		return &kept{Lost, "it was no file, directory or link"}
	}
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return conflict("its directory is not there any more")
	}
	if err != nil {
		return err
	}
	u.tell(e, p, Restored, "")
	return u.finish(i, e, p, lost)
}

// missing is miss for a file that is not there.
func (u *undoer) missing(i int, e *Entry, p string, lost State) error {
	return u.miss(i, e, p, lost) // whose end makes it a ghost
}

// unghost notes that no file would be at a path any more.
func (u *undoer) unghost(e *Entry, p string) error {
	if _, ok := u.ghosts[p]; !ok {
		return nil
	}
	return u.write(step{Decision: e.Decision, Path: exact(p), Gone: true})
}

// relink makes a further name of a file that has one still. Its other names are looked for.
func (u *undoer) relink(p string, lost State) bool {
	other := ""
	changes.Walk(u.tree.roots, func(dir string, entries []fs.DirEntry) {
		for _, d := range entries {
			if at := path.Join(dir, d.Name()); other == "" && d.Type().IsRegular() && u.view(at).is(lost) {
				other = at
			}
		}
	})
	if other == "" {
		return false
	}
	return u.tree.do(other, func(from int, name string) error {
		return u.tree.do(p, func(dir int, last string) error { return unix.Linkat(from, name, dir, last, 0) })
	}) == nil
}

// unmove renames a file back, and makes the one that it replaced again.
func (u *undoer) unmove(i int, e *Entry, p string) error {
	from := string(e.From)
	now := u.view(p)
	switch {
	case now.is(e.State) && e.Made && e.Over.Kind != kindDir:
		return u.unreplace(i, e, p)
	case now.is(e.State):
		if u.view(from).Kind != "" {
			return conflict("another file is at " + from)
		}
		if ghost, ok := u.ghosts[p]; ok {
			err := u.unghost(e, p)
			if err == nil {
				err = u.write(step{Decision: e.Decision, Path: e.From, Was: ghost})
			}
			if err != nil {
				return err
			}
			break
		}
		err := u.tree.do(p, func(dir int, name string) error {
			return u.tree.do(from, func(back int, last string) error {
				err := unix.Renameat2(dir, name, back, last, unix.RENAME_NOREPLACE)
				if errors.Is(err, unix.EINVAL) {
					err = unix.Renameat(dir, name, back, last)
				}
				return err
			})
		})
		if errors.Is(err, unix.ENOENT) {
			return conflict("the directory of " + from + " is not there any more")
		}
		if err != nil {
			return err
		}
		u.tell(e, from, Restored, "")
		if e.Over.Kind == "" {
			u.tell(e, p, Removed, "")
		}
	case u.view(from).is(e.State): // not made, or taken back
	case e.Made && now.Kind == "": // it is gone
	case e.Made && now.is(e.Over):
	default:
		return conflict("the file that was moved is not there any more")
	}
	if e.Over.Kind == "" {
		return u.finish(i, e, "", State{})
	}
	return u.recreate(i, e, p)
}

// unreplace takes back the move of a file that the command made: the file that was replaced takes its place,
// or none does.
func (u *undoer) unreplace(i int, e *Entry, p string) error {
	real, err := u.tree.look(p)
	if err != nil {
		return err
	}
	lost := e.Over
	switch {
	case real.Kind == "" || lost.Kind == "" || lost.Links > 1 || lost.Kind == kindOther,
		lost.Kind == kindFile && e.Sum == "":
		if err := u.unghost(e, p); err != nil {
			return err
		}
		unkept := lost.Kind == kindFile && e.Sum == "" && e.Lack != lackOwn
		if unkept && !u.made[fileOf(lost)] {
			return u.miss(i, e, p, lost) // the new file stays
		}
		if err := u.drop(e, p, real.Kind); err != nil {
			return err
		}
		if lost.Kind == "" || e.Lack == lackOwn {
			u.tell(e, p, Removed, "")
			return u.finish(i, e, "", State{})
		}
		return u.recreate(i, e, p)
	}
	if err := u.replace(e, p, real, lost); err != nil {
		return err
	}
	u.tell(e, p, Restored, "")
	return u.finish(i, e, p, lost)
}

// unswap exchanges two files again.
func (u *undoer) unswap(i int, e *Entry, p string) error {
	from := string(e.From)
	there, here := u.view(p), u.view(from)
	if there.is(e.Over) && here.is(e.State) {
		return u.finish(i, e, "", State{})
	}
	if !there.is(e.State) || !here.is(e.Over) {
		return conflict("the files that were exchanged are not there any more")
	}
	err := u.tree.do(p, func(dir int, name string) error {
		return u.tree.do(from, func(back int, last string) error {
			return unix.Renameat2(dir, name, back, last, unix.RENAME_EXCHANGE)
		})
	})
	if err != nil {
		return err
	}
	u.tell(e, p, Restored, "")
	u.tell(e, from, Restored, "")
	return u.finish(i, e, "", State{})
}
