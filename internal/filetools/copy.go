package filetools

import (
	"context"
	"fmt"
	"io/fs"
	"path"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// CopyFileInput asks for a copy of a file or a directory.
type CopyFileInput struct {
	SourcePath      string `json:"source_path" jsonschema:"file or directory to copy; links in a directory stay links"`
	DestinationPath string `json:"destination_path" jsonschema:"the copy itself, not the directory for it; missing directories are made"`
	Overwrite       bool   `json:"overwrite,omitempty" jsonschema:"replace a file that is there; a directory is merged into, and nothing in it is deleted (default false)"`
	DryRun          bool   `json:"dry_run,omitempty" jsonschema:"only list the files that would be copied; policies judge it all the same (default false)"`
}

// CopyFileDetails is the result of copy_file.
type CopyFileDetails struct {
	Type        string    `json:"type" jsonschema:"file or directory"`
	Source      string    `json:"source" jsonschema:"absolute"`
	Destination string    `json:"destination" jsonschema:"absolute"`
	Size        int64     `json:"size" jsonschema:"bytes that were copied"`
	FileCount   *int      `json:"file_count,omitempty" jsonschema:"files that were copied; absent for a single file"`
	LinkCount   *int      `json:"link_count,omitempty" jsonschema:"symbolic links that were made; absent for a single file"`
	Skipped     []Skipped `json:"skipped,omitempty" jsonschema:"files of a directory that were not copied"`
	Errors      []Problem `json:"errors,omitempty" jsonschema:"files of a directory that could not be copied"`
	DryRun      bool      `json:"dry_run,omitempty" jsonschema:"nothing was copied"`
}

type copyFile struct {
	in      CopyFileInput
	dir     bool // the source is a directory
	steps   []step
	tree    tree
	details CopyFileDetails
	ok      bool
}

// CopyFile copies a file, or a directory with everything below it.
func CopyFile(in CopyFileInput) Tool { return &copyFile{in: in} }

func (t *copyFile) Plan(files facts.FS) (_ []facts.Touch, err error) {
	if t.in.SourcePath, err = clean("source_path", t.in.SourcePath); err != nil {
		return nil, err
	}
	if t.in.DestinationPath, err = clean("destination_path", t.in.DestinationPath); err != nil {
		return nil, err
	}
	source, err := look(files, t.in.SourcePath)
	if err != nil {
		return nil, fmt.Errorf("copy %w", err)
	}
	if path.Clean(t.in.SourcePath) == path.Clean(t.in.DestinationPath) {
		return nil, t.itself()
	}
	destination, err := look(files, t.in.DestinationPath)
	there := err == nil && destination.granted
	if there && !t.in.Overwrite {
		return nil, fmt.Errorf(
			"copy to %s: it is there already: use overwrite=true to replace a file or to merge into a directory",
			t.in.DestinationPath)
	}
	touches := []facts.Touch{{Path: t.in.SourcePath, Access: "read"},
		{Path: t.in.DestinationPath, Access: "write"}}
	if !source.granted {
		return touches, nil
	}
	if t.dir = source.info.IsDir(); !t.dir {
		return touches, t.planFile(source, destination)
	}
	if there && !destination.info.IsDir() {
		return nil, fmt.Errorf("copy %s to %s: a directory cannot replace a %s", t.in.SourcePath,
			t.in.DestinationPath, kindOf(destination.info.Mode()))
	}
	return t.planTree(files, touches, source.info)
}

func (t *copyFile) itself() error {
	return fmt.Errorf("copy %s to %s: it cannot be copied to itself or into itself: choose another destination",
		t.in.SourcePath, t.in.DestinationPath)
}

func (t *copyFile) planFile(source, destination found) error {
	switch {
	case !source.info.Mode().IsRegular():
		return fmt.Errorf("copy %s: it is a %s, not a file", t.in.SourcePath, kindOf(source.info.Mode()))
	case destination.granted && destination.info != nil && destination.info.IsDir():
		return fmt.Errorf("copy to %s: it is a directory: name the file that the copy shall be",
			t.in.DestinationPath)
	}
	return nil
}

// planTree names each file that will be written, so that each is judged by itself. The source is read as a
// whole.
func (t *copyFile) planTree(files facts.FS, touches []facts.Touch, source fs.FileInfo) (_ []facts.Touch,
	err error) {
	if within(files, source, t.in.DestinationPath) {
		return nil, t.itself()
	}
	everything, err := parseSelection(nil, nil)
	if err != nil {
		return nil, err
	}
	if t.tree, err = grow(files, t.in.SourcePath, everything, nil); err != nil {
		return nil, fmt.Errorf("copy %w", err)
	}
	touches[0].Recursive = true
	t.steps = nil
	add := func(it item) {
		t.steps = append(t.steps, step{it, 0, len(touches)})
		touches = append(touches, facts.Touch{Path: below(t.in.DestinationPath, it.rel), Access: "write"})
	}
	for _, rel := range t.tree.hollow {
		add(item{rel: rel, mode: fs.ModeDir})
	}
	for _, it := range t.tree.files {
		add(it)
	}
	return touches, nil
}

// within reports whether a path lies in a directory, as far as that can be seen before it is judged.
func within(files facts.FS, dir fs.FileInfo, p string) bool {
	for ; ; p = path.Dir(p) {
		if f, err := look(files, p); err == nil && f.granted && engine.SameFile(f.info, dir) {
			return true
		}
		if p == path.Dir(p) {
			return false
		}
	}
}

func (t *copyFile) Run(ctx context.Context, files engine.Files, paths []facts.Path) error {
	d := &t.details
	*d = CopyFileDetails{Type: "file", Source: paths[0].Path, Destination: paths[1].Path, DryRun: t.in.DryRun}
	if insideItself(paths[0], paths[1]) {
		return t.itself()
	}
	c := copier{files: files, paths: paths, overwrite: t.in.Overwrite, dryRun: t.in.DryRun}
	if t.dir {
		return t.runTree(ctx, c)
	}
	info, err := files.Lstat(paths[0].Real)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf(
			"copy %s: its files cannot be listed, because nothing is granted there or the system refuses it: name "+
				"them one by one", t.in.SourcePath)
	}
	done, err := c.copy(ctx, step{item{mode: info.Mode()}, 0, 1})
	if err == nil && done.skipped != "" {
		err = fmt.Errorf("%s", done.skipped)
	}
	if err != nil {
		return fmt.Errorf("copy %s to %s: %w", t.in.SourcePath, t.in.DestinationPath, cause(err))
	}
	d.Size, t.ok = done.size, true
	return nil
}

func (t *copyFile) runTree(ctx context.Context, c copier) error {
	d := &t.details
	count, links, failed := 0, 0, len(t.tree.problems)
	d.Type, d.FileCount, d.LinkCount = "directory", &count, &links
	for _, p := range t.tree.problems {
		d.Errors = appendListed(d.Errors, p)
	}
	if !t.in.DryRun {
		if err := c.files.Mkdir(c.paths[1].Real); err != nil {
			return fmt.Errorf("copy %s to %s: %w", t.in.SourcePath, t.in.DestinationPath, cause(err))
		}
	}
	for _, s := range t.steps {
		if err := alive(ctx); err != nil {
			return fmt.Errorf("copy %s: %w (%d of %d files are copied)", t.in.SourcePath, err, count,
				len(t.tree.files))
		}
		done, err := c.copy(ctx, s)
		switch {
		case err != nil:
			failed++
			d.Errors = appendListed(d.Errors, Problem{s.rel, cause(err).Error()})
		case done.skipped != "":
			d.Skipped = appendListed(d.Skipped, Skipped{s.rel, done.skipped})
		case done.link:
			links++
		case !s.mode.IsDir():
			count++
			d.Size += done.size
		}
	}
	if t.ok = failed == 0 || count+links > 0; !t.ok {
		return fmt.Errorf("copy %s: nothing of it could be copied: %s: %s", t.in.SourcePath, d.Errors[0].Path,
			d.Errors[0].Error)
	}
	return nil
}

// Rehearses reports a dry run.
func (t *copyFile) Rehearses() bool { return t.in.DryRun }

func (t *copyFile) Result() Result {
	return Result{Operation: "copy_file", Success: t.ok, Details: &t.details}
}
