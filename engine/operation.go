package engine

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Operation is the work of a file tool, in place of a command. The gate calls Plan, has the touches judged,
// records the decision and only then calls Run, with a view of the judged paths.
type Operation interface {
	// Plan names every path that Run needs. To expand a pattern it may look at files, which shows the
	// granted roots only. It changes nothing. An error is about the request (ErrRequest).
	Plan(files facts.FS) ([]facts.Touch, error)
	// Run does the work. paths are the judged facts about the planned touches, in their order: Run uses the
	// Real path of each, in which no element is a symbolic link. It ends when ctx does.
	Run(ctx context.Context, files Files, paths []facts.Path) error
}

// Rehearsal is an Operation that may only report its effects. It is judged and recorded like the work itself,
// and the ledger notes nothing of it: nothing was read and nothing was made.
type Rehearsal interface {
	Operation
	Rehearses() bool
}

func rehearses(o Operation) bool {
	r, ok := o.(Rehearsal)
	return ok && r.Rehearses()
}

// Files is how a file tool reaches the files of an environment. Paths are absolute, and no element of
// one may be a symbolic link when it is used: a link that has come in its place since the path was
// judged is an error and is not followed. It is safe for concurrent use.
type Files interface {
	// Lstat, ReadLink and ReadDir are as in facts.FS. ReadDir returns the entries sorted by name.
	Lstat(path string) (fs.FileInfo, error)
	ReadLink(path string) (string, error)
	ReadDir(path string) ([]fs.DirEntry, error)
	// Open reads a regular file; it never waits for a pipe or a device.
	Open(path string) (io.ReadCloser, error)
	// Write makes a file of content, whole or not at all, with the directories that it needs, and
	// returns the number of bytes.
	Write(path string, content io.Reader, o WriteOptions) (int64, error)
	// Mkdir makes a directory and those above it. One that is there already is no error.
	Mkdir(path string) error
	// Symlink makes a symbolic link. An existing file is an error.
	Symlink(target, path string) error
	// Chmod gives a file or a directory permission bits, without those that change the user or the group.
	Chmod(path string, mode fs.FileMode) error
	// Remove removes one file, symbolic link or empty directory.
	Remove(path string) error
}

// WriteOptions say how a file is written. The zero value makes a new file with the environment's usual mode.
type WriteOptions struct {
	Replace bool // a file may be there already; it keeps its mode, and other names of it keep the old content
	// Like gives the new file the permission bits and the modification time of another, without the
	// bits that change the user or the group.
	Like fs.FileInfo
}

// SameFile reports whether two descriptions are of one file, as os.SameFile does for files of this machine.
// The description of a file elsewhere has a method Same.
func SameFile(a, b fs.FileInfo) bool {
	if far, ok := a.(interface{ Same(fs.FileInfo) bool }); ok {
		return far.Same(b)
	}
	return os.SameFile(a, b)
}

// judgedFiles is a view of files that holds the judged paths, each with its judged access, and nothing
// besides: an Operation cannot reach further.
type judgedFiles struct {
	files     Files
	at, below map[string][]string // accesses by real path: to the path itself, and to all that lies below it
}

// newJudgedFiles indexes the paths: a batch has thousands of them, and asks about each several times.
func newJudgedFiles(files Files, paths []facts.Path) judgedFiles {
	j := judgedFiles{files, map[string][]string{}, map[string][]string{}}
	add := func(to map[string][]string, p *facts.Path) {
		if !slices.Contains(to[p.Real], p.Access) {
			to[p.Real] = append(to[p.Real], p.Access)
		}
	}
	for i := range paths {
		p := &paths[i]
		if !isAbs(p.Real) {
			continue
		}
		add(j.at, p)
		if p.Recursive {
			add(j.below, p)
		}
	}
	return j
}

// ErrNotJudged is wrapped by the error for a path, or an access to it, that no decision covers.
var ErrNotJudged = fmt.Errorf("not covered by the decision: %w", fs.ErrPermission)

// isAbs takes the paths of this machine, which have slashes on every system, and those of an environment
// elsewhere.
func isAbs(p string) bool { return path.IsAbs(p) || filepath.IsAbs(p) }

// covered reports whether a path was judged for one of the accesses; with none, for any.
func (j judgedFiles) covered(op, name string, accesses ...string) error {
	judged := func(given []string) bool {
		return len(given) > 0 && (len(accesses) == 0 ||
			slices.ContainsFunc(accesses, func(a string) bool { return slices.Contains(given, a) }))
	}
	if isAbs(name) && path.Clean(name) == name {
		if judged(j.at[name]) {
			return nil
		}
		for at, dir := name, path.Dir(name); dir != at; at, dir = dir, path.Dir(dir) {
			if judged(j.below[dir]) {
				return nil
			}
		}
	}
	return fmt.Errorf("%s %s: %w", op, name, ErrNotJudged)
}

func (j judgedFiles) Lstat(path string) (fs.FileInfo, error) {
	if err := j.covered("look at", path); err != nil {
		return nil, err
	}
	return j.files.Lstat(path)
}

func (j judgedFiles) ReadLink(path string) (string, error) {
	if err := j.covered("read link", path); err != nil {
		return "", err
	}
	return j.files.ReadLink(path)
}

func (j judgedFiles) ReadDir(path string) ([]fs.DirEntry, error) {
	if err := j.covered("list", path); err != nil {
		return nil, err
	}
	return j.files.ReadDir(path)
}

func (j judgedFiles) Open(path string) (io.ReadCloser, error) {
	if err := j.covered("read", path, "read"); err != nil {
		return nil, err
	}
	return j.files.Open(path)
}

func (j judgedFiles) Write(path string, content io.Reader, o WriteOptions) (int64, error) {
	if err := j.covered("write", path, "write"); err != nil {
		return 0, err
	}
	return j.files.Write(path, content, o)
}

func (j judgedFiles) Mkdir(path string) error {
	if err := j.covered("make directory", path, "write"); err != nil {
		return err
	}
	return j.files.Mkdir(path)
}

func (j judgedFiles) Symlink(target, path string) error {
	if err := j.covered("link", path, "write"); err != nil {
		return err
	}
	return j.files.Symlink(target, path)
}

func (j judgedFiles) Chmod(path string, mode fs.FileMode) error {
	if err := j.covered("change the mode of", path, "write"); err != nil {
		return err
	}
	return j.files.Chmod(path, mode)
}

func (j judgedFiles) Remove(path string) error {
	if err := j.covered("delete", path, "delete"); err != nil {
		return err
	}
	return j.files.Remove(path)
}
