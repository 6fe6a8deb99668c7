package filetools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// DeleteFileInput asks for a file or a directory to go.
type DeleteFileInput struct {
	Path      string `json:"path" jsonschema:"file, link or directory to delete; of a link the link itself goes, never its target"`
	Recursive bool   `json:"recursive,omitempty" jsonschema:"delete a directory with everything below it (default false)"`
	DryRun    bool   `json:"dry_run,omitempty" jsonschema:"only list the files that would be deleted; policies judge it all the same (default false)"`
}

// DeleteFileDetails is the result of delete_file.
type DeleteFileDetails struct {
	Type      string `json:"type" jsonschema:"file, directory, symlink, fifo, socket or device"`
	Path      string `json:"path" jsonschema:"the deleted path, absolute"`
	Size      *int64 `json:"size,omitempty" jsonschema:"bytes of the file; absent for directories"`
	FileCount *int   `json:"file_count,omitempty" jsonschema:"files and links that were in the directory; absent for files"`
	DryRun    bool   `json:"dry_run,omitempty" jsonschema:"nothing was deleted"`
}

type deleteFile struct {
	in      DeleteFileInput
	details DeleteFileDetails
	ok      bool
}

// DeleteFile deletes one file, link or directory.
func DeleteFile(in DeleteFileInput) Tool { return &deleteFile{in: in} }

func (t *deleteFile) Plan(files facts.FS) (_ []facts.Touch, err error) {
	if t.in.Path, err = clean("path", t.in.Path); err != nil {
		return nil, err
	}
	f, err := lookAt(files, t.in.Path)
	if err != nil {
		return nil, fmt.Errorf("delete %w", err)
	}
	touch := facts.Touch{Path: t.in.Path, Access: "delete", Recursive: t.in.Recursive}
	if !f.granted {
		return []facts.Touch{touch}, nil
	}
	touch.Recursive = t.in.Recursive && f.info.IsDir()
	if f.info.IsDir() && !t.in.Recursive {
		if entries, err := files.ReadDir(t.in.Path); err == nil && len(entries) > 0 {
			return nil, t.notEmpty()
		}
	}
	return []facts.Touch{touch}, nil
}

func (t *deleteFile) notEmpty() error {
	return fmt.Errorf(
		"delete %s: the directory is not empty: use recursive=true to delete it with everything below it",
		t.in.Path)
}

func (t *deleteFile) Run(ctx context.Context, files engine.Files, paths []facts.Path) error {
	real := paths[0].Real
	t.details = DeleteFileDetails{Path: paths[0].Path, DryRun: t.in.DryRun}
	info, err := files.Lstat(real)
	if err != nil {
		return err
	}
	t.details.Type = kindOf(info.Mode())
	if info.IsDir() {
		err = t.directory(ctx, files, real)
	} else {
		size := info.Size()
		t.details.Size = &size
		if !t.in.DryRun {
			err = files.Remove(real)
		}
	}
	t.ok = err == nil
	return err
}

func (t *deleteFile) directory(ctx context.Context, files engine.Files, real string) error {
	count := 0
	t.details.FileCount = &count
	entries, err := files.ReadDir(real)
	if err != nil {
		return err
	}
	if len(entries) > 0 && !t.in.Recursive {
		return t.notEmpty()
	}
	if err := t.below(ctx, files, real, 0); err != nil {
		if count > 0 && !t.in.DryRun {
			return fmt.Errorf("%w (%d files below it are deleted already)", err, count)
		}
		return err
	}
	return nil
}

// maxDeletedDepth bounds how deep delete_file goes; the system's own bound on paths is about here.
const maxDeletedDepth = 2000

// below deletes a directory and its content, or counts that.
func (t *deleteFile) below(ctx context.Context, files engine.Files, dir string, depth int) error {
	if depth > maxDeletedDepth {
		return fmt.Errorf("delete %s: more than %d directories inside each other: delete inner ones first", dir,
			maxDeletedDepth)
	}
	entries, err := files.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := alive(ctx); err != nil {
			return fmt.Errorf("delete %s: %w", dir, err)
		}
		name := realBelow(dir, e.Name())
		switch {
		case e.IsDir():
			err = t.below(ctx, files, name, depth+1)
		case t.in.DryRun:
			*t.details.FileCount++
		default:
			if err = files.Remove(name); err == nil {
				*t.details.FileCount++
			} else if errors.Is(err, fs.ErrNotExist) {
				err = nil // somebody else was faster
			}
		}
		if err != nil {
			return err
		}
	}
	if t.in.DryRun {
		return nil
	}
	return files.Remove(dir)
}

// Rehearses reports a dry run.
func (t *deleteFile) Rehearses() bool { return t.in.DryRun }

func (t *deleteFile) Result() Result {
	return Result{Operation: "delete_file", Success: t.ok, Details: &t.details}
}
