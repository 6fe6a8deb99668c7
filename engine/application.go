package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// application is the operation that applies the changes of a trial.
type application struct {
	view      Trial
	changes   Changes
	rehearsal bool
}

var _ Rehearsal = (*application)(nil)

// appliedBy lists the changes that an operation applies; nil for other operations.
func appliedBy(o Operation) *Changes {
	if a, ok := o.(*application); ok {
		return &a.changes
	}
	return nil
}

// Rehearses reports that the changes are judged only.
func (a *application) Rehearses() bool { return a.rehearsal }

// Plan names one touch for each change, in their order, and behind them the targets of new links as read.
func (a *application) Plan(facts.FS) ([]facts.Touch, error) {
	var touches, targets []facts.Touch
	for _, c := range a.changes.List {
		t := facts.Touch{Path: c.Path, Access: "write", Size: c.Size}
		if c.What == Removed {
			t.Access, t.Recursive = "delete", c.isDir()
		}
		touches = append(touches, t)
		if c.Link != "" {
			target := c.Link
			if !isAbs(target) {
				target = path.Join(path.Dir(c.Path), target)
			}
			targets = append(targets, facts.Touch{Path: target, Access: "read"})
		}
	}
	return append(touches, targets...), nil
}

// isDir reads the mode of a change, as fs.FileMode shows it.
func (c Change) isDir() bool { return strings.HasPrefix(c.Mode, "d") }

// Run applies all changes or, where that cannot be done as a whole, none.
func (a *application) Run(ctx context.Context, files Files, paths []facts.Path) error {
	if a.rehearsal {
		return errors.New("apply changes: they are for a look only")
	}
	if err := a.applicable(paths); err != nil {
		return fmt.Errorf("apply changes: %w: nothing was changed", err)
	}
	for i, c := range a.changes.List {
		err := ctx.Err()
		if err == nil {
			err = a.one(files, c)
		}
		if err != nil {
			return fmt.Errorf("apply changes: %d of %d are applied: %w", i, len(a.changes.List), err)
		}
	}
	for _, c := range slices.Backward(a.changes.List) { // the entries of a directory come before its mode
		if c.isDir() && c.What != Removed {
			if err := chmod(files, c.Path, c.Mode, 0); err != nil {
				return fmt.Errorf("apply changes: all but some modes are applied: %w", err)
			}
		}
	}
	return nil
}

// applicable says why changes cannot be applied.
func (a *application) applicable(paths []facts.Path) error {
	if conflicts := a.view.Conflicts(a.changes); len(conflicts) > 0 {
		return fmt.Errorf("changed by others since the trial began: %s: try again", listed(conflicts))
	}
	removed := map[string]bool{}
	for i, c := range a.changes.List {
		if i >= len(paths) || paths[i].Real != c.Path {
			return fmt.Errorf("%s is a link by now, or lies behind one: try again", c.Path)
		}
		kind := c.Mode[:strings.IndexAny(c.Mode+"-", "-r")]
		switch {
		case c.What == Removed:
			removed[c.Path] = kind == "L"
		case kind != "" && kind != "d" && kind != "L":
			return fmt.Errorf("%s is no file, directory or link (%s): make it for real", c.Path, c.Mode)
		case kind == "L" && c.What == Changed || removed[c.Path]:
			return fmt.Errorf("%s replaces a symbolic link: make it for real", c.Path)
		}
	}
	return nil
}

// maxListed bounds the names in an error.
const maxListed = 5

func listed(names []string) string {
	if len(names) > maxListed {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), len(names)-maxListed)
	}
	return strings.Join(names, ", ")
}

// one applies one change.
func (a *application) one(files Files, c Change) error {
	if c.What == Removed {
		return removeAll(files, c.Path, c.isDir())
	}
	if c.Link != "" {
		return files.Symlink(c.Link, c.Path)
	}
	if c.isDir() {
		if c.What == Changed {
			return nil
		}
		if err := files.Mkdir(c.Path); err != nil {
			return err
		}
		return chmod(files, c.Path, c.Mode, 0o700)
	}
	info, err := a.view.Lstat(c.Path)
	if err != nil {
		return err
	}
	content, err := a.view.Open(c.Path)
	if err != nil {
		return err
	}
	defer content.Close()
	o := WriteOptions{Replace: c.What == Changed, Like: info}
	if _, err := files.Write(c.Path, content, o); err != nil {
		return err
	}
	return chmod(files, c.Path, c.Mode, 0)
}

// chmod gives a file its mode and more rights, if it has another mode.
func chmod(files Files, path, text string, more fs.FileMode) error {
	mode, err := parseMode(text)
	if err != nil {
		return err
	}
	mode |= more
	info, err := files.Lstat(path)
	if err != nil || info.Mode().Perm() == mode {
		return err
	}
	return files.Chmod(path, mode)
}

// parseMode reads the permission bits of a mode, as fs.FileMode shows it.
func parseMode(text string) (mode fs.FileMode, err error) {
	const bits = "rwxrwxrwx"
	if len(text) < len(bits) {
		return 0, fmt.Errorf("mode %q: it has no permission bits", text)
	}
	text = text[len(text)-len(bits):]
	for i := range bits {
		switch mode <<= 1; text[i] {
		case bits[i]:
			mode |= 1
		case '-':
		default:
			return 0, fmt.Errorf("mode %q: it has no permission bits", text)
		}
	}
	return mode, nil
}

// removeAll removes a file, or a directory with everything in it.
func removeAll(files Files, path string, dir bool) error {
	if dir {
		entries, err := files.ReadDir(path)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := removeAll(files, path+"/"+e.Name(), e.IsDir()); err != nil {
				return err
			}
		}
	}
	return files.Remove(path)
}
