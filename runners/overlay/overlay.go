// Package overlay shows directories of this machine in views whose changes stay apart, by the overlay file
// system of Linux (5.11 or newer), without any rights of root.
//
// Each directory is the lower layer of an overlay and is never written to. Changes go to an upper layer in a
// private directory of the host, which tells afterwards exactly which names were made, changed and removed.
// The mounts lie in namespaces of one program (Spec.Enter), so no other process sees them.
//
// A view has limits: rename(2) of a directory that was there before fails with EXDEV, hard links break at
// the first write, and changes by others during its life may not show in it.
//
// The package neither judges changes nor applies them.
package overlay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/runners/files"
)

// ErrUnavailable is wrapped by errors that say that there can be no view here.
var ErrUnavailable = errors.New("no view for a trial")

// View is a set of directories with the private places of their changes.
type View struct {
	dir   string
	roots []string
	begun time.Time // by the clock of the file system
}

// New makes the private places of a view of some directories, by real path, in a new directory below dir.
// None of them may lie in another one, and nothing may be mounted below them.
func New(dir string, roots []string) (*View, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make view: %w", err)
	}
	own, err := os.MkdirTemp(dir, "view-")
	if err != nil {
		return nil, fmt.Errorf("make view: %w", err)
	}
	if own, err = filepath.EvalSymlinks(own); err != nil {
		return nil, fmt.Errorf("make view: %w", err)
	}
	v := &View{dir: own, roots: slices.Clone(roots)}
	if err := v.prepare(); err != nil {
		return nil, errors.Join(fmt.Errorf("make view: %w", err), v.Remove())
	}
	return v, nil
}

func (v *View) prepare() error {
	for i, r := range v.roots {
		info, err := (files.Host{}).Lstat(r)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%w: %s is a file: grant its directory", ErrUnavailable, r)
		}
		for _, part := range []string{v.Upper(i), v.work(i)} {
			if err := os.MkdirAll(part, 0o700); err != nil {
				return err
			}
		}
		// The view shows the directory itself with the mode of the upper one.
		if err := os.Chmod(v.Upper(i), info.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := os.WriteFile(v.Masked(), nil, 0); err != nil {
		return err
	}
	stamp, err := os.Lstat(v.dir)
	if err == nil {
		v.begun, err = changedAt(stamp)
	}
	return err
}

// Upper is the directory of the changes of one of the roots, by its index.
func (v *View) Upper(i int) string { return filepath.Join(v.dir, strconv.Itoa(i), "upper") }

// Masked is a file that nobody can read: it is shown in place of others.
func (v *View) Masked() string { return filepath.Join(v.dir, "masked") }

func (v *View) work(i int) string { return filepath.Join(v.dir, strconv.Itoa(i), "work") }

// Roots are the directories that the view shows.
func (v *View) Roots() []string { return slices.Clone(v.roots) }

// Root is the index of the root that holds a path, and the path relative to it.
func (v *View) Root(path string) (i int, rel string, ok bool) {
	for i, r := range v.roots {
		if path == r {
			return i, ".", true
		}
		if rel, ok := strings.CutPrefix(path, strings.TrimSuffix(r, "/")+"/"); ok {
			return i, rel, true
		}
	}
	return 0, "", false
}

// Remove removes the changes. The view must not be in use.
func (v *View) Remove() error {
	// The kernel leaves directories without any permission, and so may commands.
	_ = filepath.WalkDir(v.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil && d != nil && d.IsDir() {
			_ = os.Chmod(p, 0o700)
			return nil
		}
		if d != nil && d.IsDir() {
			_ = os.Chmod(p, 0o700)
		}
		return nil
	})
	if err := os.RemoveAll(v.dir); err != nil {
		return fmt.Errorf("remove view: %w", err)
	}
	return nil
}

// Spec says, to the program that makes the mounts, where they belong. It travels as an argument.
type Spec struct {
	Mounts []Mount
	Status int      // descriptor of a file for the numbers of the mounted devices; see Devices
	Then   []string // the program that runs with them
}

// Mount is one overlay.
type Mount struct{ At, Upper, Work string }

// Spec returns the mounts of the view.
func (v *View) Spec() Spec {
	var s Spec
	for i, r := range v.roots {
		s.Mounts = append(s.Mounts, Mount{At: r, Upper: v.Upper(i), Work: v.work(i)})
	}
	return s
}

// String is the spec as an argument for Main.
func (s Spec) String() string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // texts and numbers
	}
	return string(b)
}

// Devices reads the devices of the mounts, "major:minor" in their order, of a file that Main wrote.
func Devices(status *os.File, n int) ([]string, error) {
	b := make([]byte, 1<<12)
	size, _ := status.ReadAt(b, 0)
	all := strings.Fields(string(b[:size]))
	if len(all) != n {
		return nil, fmt.Errorf("make view: have the devices of %d mounts, not of %d", len(all), n)
	}
	return all, nil
}
