package files

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/runners/identity"
)

const (
	// reownTime bounds Reown: a person waits for the next step.
	reownTime = 10 * time.Second
	// reownDepth bounds how deep it goes. Each level holds a descriptor.
	reownDepth = 256
)

// Reown gives root's files at and below some directories to a user, and clears the set-user-id and
// set-group-id bits of every file there, and of directories that were root's. It follows no symbolic link,
// and each file is checked and changed through one descriptor, so that no other file can take its place. A
// file with several names on the system's own file system stays as it is: it may be the system's. Files that
// cannot be written (a read-only mount) stay, too.
//
// The error names the rest, if it took too long or was not allowed.
func Reown(roots []string, user identity.User) error {
	var system unix.Stat_t
	if err := unix.Lstat("/", &system); err != nil {
		return fmt.Errorf("give files to user %d: %w", user.UID, err)
	}
	r := reowner{user: user, system: system.Dev, until: time.Now().Add(reownTime)}
	var errs []error
	for _, root := range roots {
		if err := r.root(root); err != nil {
			errs = append(errs, fmt.Errorf("give files below %s to user %d: %w", root, user.UID, err))
		}
	}
	return errors.Join(errs...)
}

// errCut ends a walk that takes too long.
var errCut = fmt.Errorf("cut short after %s: the rest may be root's: use smaller directories, or chown it",
	reownTime)

type reowner struct {
	user   identity.User
	system uint64 // device of the root of the file system
	until  time.Time
	failed error // the first change that was not allowed; the walk goes on
	count  int   // of those
}

func (r *reowner) root(path string) error {
	root, names, err := split(path)
	if err != nil {
		return err
	}
	fd, err := stepDown(root, names, false)
	if gone(err) {
		return nil
	}
	if err != nil {
		return bare(err)
	}
	defer func() { _ = unix.Close(fd) }()
	r.failed, r.count = nil, 0
	r.note(r.change(fd))
	if err := r.below(fd, 0); err != nil {
		return err
	}
	if r.failed != nil {
		return fmt.Errorf(
			"%d files could not be changed: %w: let the container keep CHOWN, FOWNER and DAC_OVERRIDE", r.count,
			r.failed)
	}
	return nil
}

// below changes all that lies in a directory and below it.
func (r *reowner) below(place, depth int) error {
	if depth >= reownDepth {
		return fmt.Errorf("cut short %d directories down: the rest may be root's", reownDepth)
	}
	fd, err := unix.Openat(place, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		r.note(err)
		return nil
	}
	dir := os.NewFile(uintptr(fd), "")
	defer dir.Close()
	for {
		names, err := dir.Readdirnames(1 << 10)
		for _, name := range names {
			if time.Now().After(r.until) {
				return errCut
			}
			if err := r.entry(fd, name, depth); err != nil {
				return err
			}
		}
		if err != nil {
			return nil // the end, or a directory that was removed
		}
	}
}

func (r *reowner) entry(dir int, name string, depth int) error {
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		r.note(err)
		return nil
	}
	defer func() { _ = unix.Close(fd) }()
	switch err := r.change(fd); {
	case errors.Is(err, errDirectory):
		return r.below(fd, depth+1)
	default:
		r.note(err)
		return nil
	}
}

// change changes one file. Of a directory it tells that it is one.
func (r *reowner) change(fd int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	kind := st.Mode & unix.S_IFMT
	if kind == unix.S_IFREG && st.Nlink > 1 && st.Dev == r.system && st.Uid != uint32(r.user.UID) {
		return nil
	}
	uid, gid := -1, -1
	if st.Uid == 0 {
		uid = r.user.UID
	}
	if st.Gid == 0 {
		gid = r.user.GID
	}
	var err error
	if uid != -1 || gid != -1 {
		err = unix.Fchownat(fd, "", uid, gid, unix.AT_EMPTY_PATH)
	}
	// In a directory of the user's own the bits give nobody any rights, and may be meant.
	ours := kind == unix.S_IFREG || kind == unix.S_IFDIR && (uid != -1 || gid != -1)
	if err == nil && ours && st.Mode&(unix.S_ISUID|unix.S_ISGID) != 0 {
		// A new owner takes the bits from files already, but for some kinds. /proc leads to that very file.
		err = unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), st.Mode&0o1777)
	}
	if kind == unix.S_IFDIR {
		r.note(err)
		return errDirectory
	}
	return err
}

// note keeps the first error that somebody can do something about.
func (r *reowner) note(err error) {
	if err == nil || gone(err) || errors.Is(err, unix.EROFS) || errors.Is(err, errDirectory) {
		return
	}
	r.count++
	if r.failed == nil {
		r.failed = err
	}
}

// gone reports whether something is not there any more, or something else is in its place.
func gone(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)
}
