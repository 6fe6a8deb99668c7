package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// fileSystem is how a Log touches the disk. It exists so that tests can fail every single step;
// osFS is the only implementation outside of them.
type fileSystem interface {
	// OpenFile never follows a symlink in the last element of name.
	OpenFile(name string, flag int, perm fs.FileMode) (file, error)
	Lstat(name string) (info, error)
	ReadDir(name string) ([]string, error)
	MkdirAll(name string, perm fs.FileMode) error
	Rename(from, to string) error
	Remove(name string) error
	// SyncDir makes the creation of files in a directory durable.
	SyncDir(name string) error
	// SyncBoth syncs two files at a time.
	SyncBoth(one, other file) (errOne, errOther error)
}

type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Stat() (info, error)
	Truncate(size int64) error
	// Sync returns nil only when all bytes and the size are on stable storage.
	Sync() error
	// Lock takes the exclusive lock of the file. Those that wait for it get it in the order in which they came.
	// Without wait it returns errBusy where the lock is taken, or somebody waits for it.
	Lock(wait bool) error
	Unlock() error
}

// info has the properties of a file that the log needs. ID and Nlink are zero where the platform does not
// tell.
type info struct {
	Size  int64
	Mode  fs.FileMode
	Nlink uint64
	UID   int // -1 where the platform has no owners
	ID    fileID
}

type fileID struct{ dev, ino uint64 }

type osFS struct{}

type osFile struct{ *os.File }

func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (file, error) {
	f, err := os.OpenFile(name, flag|openNoFollow, perm)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFS) Lstat(name string) (info, error) {
	fi, err := os.Lstat(name)
	if err != nil {
		return info{}, err
	}
	return infoOf(fi), nil
}

func (osFS) ReadDir(name string) ([]string, error) {
	entries, err := os.ReadDir(name)
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

func (osFS) MkdirAll(name string, perm fs.FileMode) error { return os.MkdirAll(name, perm) }
func (osFS) Rename(from, to string) error                 { return os.Rename(from, to) }
func (osFS) Remove(name string) error                     { return os.Remove(name) }
func (osFS) SyncDir(name string) error                    { return syncDir(name) }

func (osFS) SyncBoth(one, other file) (errOne, errOther error) {
	done := make(chan error, 1)
	go func() { done <- other.Sync() }()
	errOne = one.Sync()
	return errOne, <-done
}

func (f osFile) Stat() (info, error) {
	fi, err := f.File.Stat()
	if err != nil {
		return info{}, err
	}
	return infoOf(fi), nil
}

func (f osFile) Sync() error          { return dataSync(f.File) }
func (f osFile) Lock(wait bool) error { return lock(f.File, wait) }
func (f osFile) Unlock() error        { return unlock(f.File) }

// checkDir refuses a place in which somebody else could exchange the log under us.
func checkDir(fsys fileSystem, dir string) error {
	fi, err := fsys.Lstat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("open audit directory: %w", err)
	case fi.Mode&fs.ModeSymlink != 0:
		return fmt.Errorf("open audit directory %s: it is a symbolic link: name its target in audit.dir", dir)
	case !fi.Mode.IsDir():
		return fmt.Errorf("open audit directory %s: not a directory", dir)
	case fi.UID >= 0 && fi.UID != os.Geteuid():
		return fmt.Errorf(
			"open audit directory %s: owned by uid %d, not by uid %d: choose a directory of your own in audit.dir",
			dir, fi.UID, os.Geteuid())
	case fi.UID >= 0 && fi.Mode.Perm()&0o022 != 0:
		return fmt.Errorf("open audit directory %s: others may write to it (mode %04o): chmod 700 it", dir,
			fi.Mode.Perm())
	}
	return checkParents(fsys, dir)
}

// checkParents refuses a directory above in which everybody could put another one in place of ours. Where
// only owners may rename (the sticky bit, as in /tmp), nobody can.
func checkParents(fsys fileSystem, dir string) error {
	for parent := filepath.Dir(dir); ownersKnown; parent = filepath.Dir(parent) {
		fi, err := fsys.Lstat(parent)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("open audit directory: %w", err)
		}
		if fi.Mode.IsDir() && fi.Mode.Perm()&0o002 != 0 && fi.Mode&fs.ModeSticky == 0 {
			return fmt.Errorf(
				"open audit directory %s: everybody may rename it, because %s has mode %04o: chmod o-w that",
				dir, parent, fi.Mode.Perm())
		}
		if parent == filepath.Dir(parent) {
			break
		}
	}
	return nil
}

// looseParents tells of directories above in which others than everybody could put another one in place of
// ours.
func looseParents(fsys fileSystem, dir string) (loose []string) {
	for parent := filepath.Dir(dir); ownersKnown; parent = filepath.Dir(parent) {
		fi, err := fsys.Lstat(parent)
		switch sticky := fi.Mode&fs.ModeSticky != 0; {
		case err != nil || !fi.Mode.IsDir():
		case fi.UID != 0 && fi.UID != os.Geteuid():
			loose = append(loose, fmt.Sprintf("uid %d owns %s and can exchange the log below it", fi.UID, parent))
		case fi.Mode.Perm()&0o002 != 0 && !sticky:
			loose = append(loose, fmt.Sprintf("everybody can exchange the log below %s (mode %04o)", parent,
				fi.Mode.Perm()))
		case fi.Mode.Perm()&0o020 != 0 && !sticky:
			loose = append(
				loose, fmt.Sprintf("the group of %s can exchange the log below it (mode %04o): chmod g-w it, "+
					"unless its group is yours alone", parent, fi.Mode.Perm()))
		}
		if parent == filepath.Dir(parent) {
			return loose
		}
	}
	return nil
}

// checkFile refuses a file that cannot be one of ours.
func checkFile(name string, fi info) error {
	switch {
	case !fi.Mode.IsRegular():
		return fmt.Errorf("open %s: not a regular file", name)
	case fi.UID >= 0 && fi.UID != os.Geteuid():
		return fmt.Errorf("open %s: owned by uid %d, not by uid %d", name, fi.UID, os.Geteuid())
	case fi.UID >= 0 && fi.Mode.Perm()&0o022 != 0:
		return fmt.Errorf("open %s: others may write to it (mode %04o): chmod 600 it", name, fi.Mode.Perm())
	}
	return nil
}

// makeDir creates a private directory where it is missing and checks it.
func makeDir(fsys fileSystem, dir string) error {
	if _, err := fsys.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		if err := fsys.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("create audit directory: %w", err)
		}
		if err := fsys.SyncDir(filepath.Dir(dir)); err != nil {
			return fmt.Errorf("create audit directory: %w", err)
		}
	}
	return checkDir(fsys, dir)
}

// openChecked opens a file of the log and refuses one that the log did not make.
func openChecked(fsys fileSystem, name string, flag int) (file, error) {
	f, err := fsys.OpenFile(name, flag, 0o600)
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil {
		err = checkFile(name, fi)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// readAll returns the whole of a small file, at most limit bytes.
func readAll(fsys fileSystem, name string, limit int64) ([]byte, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only: nothing can be lost
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !fi.Mode.IsRegular() || fi.Size > limit {
		return nil, fmt.Errorf("read %s: not a regular file of at most %d bytes", name, limit)
	}
	b := make([]byte, fi.Size)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b[:n], nil
}

// writeNew writes a small file that is complete and durable once it has its name.
func writeNew(fsys fileSystem, name string, content []byte) error {
	if err := replace(fsys, name, content); err != nil {
		return err
	}
	return fsys.SyncDir(filepath.Dir(name))
}

// replace exchanges a small file as a whole. Readers see the old or the new content, never a mix.
// After a power cut the old content may be back, but never half of the new.
func replace(fsys fileSystem, name string, content []byte) error {
	d := begin(fsys, name, content)
	if d.err == nil {
		d.err = d.file.Sync()
	}
	return d.place()
}

// draft is the next content of a small file, not yet under its name.
type draft struct {
	fsys fileSystem
	name string
	file file // nil where it cannot be made
	err  error
}

const draftSuffix = ".tmp"

// begin writes a draft. It must be synced before it is placed.
func begin(fsys fileSystem, name string, content []byte) *draft {
	d := &draft{fsys: fsys, name: name}
	f, err := fsys.OpenFile(name+draftSuffix, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		d.err = err
		return d
	}
	d.file = f
	_, d.err = f.WriteAt(content, 0)
	return d
}

// place gives it its name, unless something failed.
func (d *draft) place() error {
	d.close()
	if d.err != nil {
		return d.err
	}
	return d.fsys.Rename(d.name+draftSuffix, d.name)
}

// close gives it up, or ends its writing.
func (d *draft) close() {
	if d.file != nil {
		d.err = errors.Join(d.err, d.file.Close())
		d.file = nil
	}
}

// errBusy says that the lock of the log was not free in time.
var errBusy = errors.New("another process held it")

// patience says how long to wait for a lock.
type patience struct {
	wait  time.Duration
	after func(time.Duration) <-chan time.Time
	// moved reports whether the log has grown since it was last asked. While it does, the queue before the
	// waiting process gets shorter, however slow the disk is.
	moved func() bool
}

// lockFor takes the lock of f. It gives up when nothing has moved for the given time: a process that was
// stopped while it held the lock must not hang the gate for ever. With errBusy f is given up: it is closed
// when its turn comes.
func lockFor(f file, p patience) error {
	if err := f.Lock(false); err == nil {
		return nil
	} else if !errors.Is(err, errBusy) {
		return fmt.Errorf("lock audit log: %w", err)
	}
	done := make(chan error, 1)
	go func() { done <- f.Lock(true) }()
	for {
		select {
		case err := <-done:
			if err != nil {
				return fmt.Errorf("lock audit log: %w", err)
			}
			return nil
		case <-p.after(p.wait):
			if p.moved() {
				continue
			}
			go func() {
				_ = errors.Join(<-done, f.Close()) // closing frees the lock, if it was taken
			}()
			return fmt.Errorf("lock audit log: %w for %v: look for a stopped sallyport process", errBusy, p.wait)
		}
	}
}

// movement returns a function that reports whether the newest file of a log has changed since the last call.
func movement(fsys fileSystem, dir string) func() bool {
	type end struct {
		segment int
		size    int64
	}
	now := func() (e end) {
		segments, err := segmentsIn(fsys, dir)
		if err != nil || len(segments) == 0 {
			return end{}
		}
		e.segment = segments[len(segments)-1]
		if fi, err := fsys.Lstat(filepath.Join(dir, segmentName(e.segment))); err == nil {
			e.size = fi.Size
		}
		return e
	}
	last := end{segment: -1}
	return func() bool {
		before := last
		last = now()
		return last != before
	}
}
