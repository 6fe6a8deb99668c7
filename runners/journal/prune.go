package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// ErrOpen is wrapped by the error for a log of an environment that a gateway has open.
var ErrOpen = errors.New("a sallyport has it open")

// Remove removes the log of an environment that no gateway has open.
func Remove(dir, name string) error {
	if filepath.Base(name) != name || name == "." || name == ".." {
		return fmt.Errorf("remove the log of environment %q: that is no name", name)
	}
	path := filepath.Join(dir, name)
	held, err := openFile(filepath.Join(path, heldName))
	if err != nil {
		return fmt.Errorf("remove the log of environment %s: %w", name, err)
	}
	free, err := tryFree(held)
	if err == nil && !free {
		err = ErrOpen
	}
	if err != nil {
		closeLocked(held)
		return fmt.Errorf("remove the log of environment %s: %w", name, err)
	}
	var errs []error
	remove := func(p string) {
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	remove(filepath.Join(path, oldName))
	remove(filepath.Join(path, logName))
	remove(filepath.Join(path, lockName))
	// The file is removed while it is locked: waiters see that it is another. On systems that cannot remove
	// an open file it is removed right after.
	if os.Remove(filepath.Join(path, heldName)) != nil {
		closeLocked(held)
		remove(filepath.Join(path, heldName))
	}
	closeLocked(held)
	remove(path)
	return errors.Join(errs...)
}

// Prune removes the logs that nobody has written to since a time, of environments that no gateway has open,
// and returns their names.
func Prune(dir string, before time.Time) ([]string, error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) || dir == "":
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("prune logs of environments: %w", err)
	}
	var out []string
	var errs []error
	for _, e := range entries {
		info, err := os.Lstat(filepath.Join(dir, e.Name(), logName))
		if err != nil || !info.Mode().IsRegular() || !info.ModTime().Before(before) {
			continue // not one of ours, or not old
		}
		switch err := Remove(dir, e.Name()); {
		case err == nil:
			out = append(out, e.Name())
		case !errors.Is(err, ErrOpen):
			errs = append(errs, err)
		}
	}
	return out, errors.Join(errs...)
}
