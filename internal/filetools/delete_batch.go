package filetools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// DeleteFilesBatchInput asks for the files below a directory that match patterns to go.
type DeleteFilesBatchInput struct {
	BasePath        string   `json:"base_path" jsonschema:"directory to look in; it stays"`
	IncludePatterns []string `json:"include_patterns,omitempty" jsonschema:"globs on the path relative to base_path, in which * crosses directories (default: everything)"`
	ExcludePatterns []string `json:"exclude_patterns,omitempty" jsonschema:"globs of files that stay; they win over include_patterns"`
	DryRun          bool     `json:"dry_run,omitempty" jsonschema:"only list the files that would be deleted; policies judge it all the same (default false)"`
}

// DeleteSummary counts the work of delete_files_batch.
type DeleteSummary struct {
	Deleted int `json:"deleted"`
	Skipped int `json:"skipped"`
	Errors  int `json:"errors"`
}

// DeleteFilesBatchDetails is the result of delete_files_batch. Each list has at most 1000 entries.
type DeleteFilesBatchDetails struct {
	DeletedFiles       []DeletedFile `json:"deleted_files" jsonschema:"the deleted files; with dry_run, those that would be deleted"`
	RemovedDirectories []string      `json:"removed_directories" jsonschema:"directories that this left empty and that went, too, relative to base_path"`
	SkippedFiles       []Skipped     `json:"skipped_files"`
	Errors             []Problem     `json:"errors"`
	DryRun             bool          `json:"dry_run,omitempty" jsonschema:"nothing was deleted"`
}

// DeletedFile is one file of a batch.
type DeletedFile struct {
	Path         string `json:"path" jsonschema:"absolute"`
	RelativePath string `json:"relative_path" jsonschema:"relative to base_path"`
	Size         int64  `json:"size" jsonschema:"bytes"`
}

type deleteBatch struct {
	in      DeleteFilesBatchInput
	takes   selection
	tree    tree
	planned bool
	summary DeleteSummary
	details DeleteFilesBatchDetails
	first   error // why the first file could not be deleted
	ok      bool
}

// DeleteFilesBatch deletes files below a directory, and the directories that this leaves empty.
func DeleteFilesBatch(in DeleteFilesBatchInput) Tool { return &deleteBatch{in: in} }

func (t *deleteBatch) Plan(files facts.FS) (_ []facts.Touch, err error) {
	if t.in.BasePath, err = clean("base_path", t.in.BasePath); err != nil {
		return nil, err
	}
	if t.takes, err = parseSelection(t.in.IncludePatterns, t.in.ExcludePatterns); err != nil {
		return nil, err
	}
	granted, err := lookBase(files, "delete files below", t.in.BasePath)
	if err != nil {
		return nil, err
	}
	if !granted {
		return []facts.Touch{{Path: below(t.in.BasePath, "."), Access: "delete", Recursive: true}},
			nil // where a link leads, not the link
	}
	if t.tree, err = grow(files, t.in.BasePath, t.takes, nil); err != nil {
		return nil, fmt.Errorf("delete files below %w", err)
	}
	t.planned = true
	out := []facts.Touch{{Path: t.in.BasePath,
		Access: "read"}} // also when nothing will go, so that the request is on record
	for _, it := range t.tree.files {
		out = append(out, facts.Touch{Path: below(t.in.BasePath, it.rel), Access: "delete"})
	}
	for _, rel := range t.tree.emptied {
		out = append(out, facts.Touch{Path: below(t.in.BasePath, rel), Access: "delete"})
	}
	return out, nil
}

func (t *deleteBatch) Run(ctx context.Context, files engine.Files, paths []facts.Path) error {
	t.summary, t.first, t.ok = DeleteSummary{}, nil, false
	d := &t.details
	*d = DeleteFilesBatchDetails{DeletedFiles: []DeletedFile{}, RemovedDirectories: []string{},
		SkippedFiles: []Skipped{}, Errors: []Problem{}, DryRun: t.in.DryRun}
	if !t.planned {
		return fmt.Errorf(
			"delete files below %s: its files cannot be listed, because nothing is granted there or the system "+
				"refuses it: name them one by one", t.in.BasePath)
	}
	for _, p := range t.tree.problems {
		t.fail(p.Path, errors.New(p.Error))
	}
	for i, it := range t.tree.files {
		if err := alive(ctx); err != nil {
			return fmt.Errorf("delete files below %s: %w (%d of %d are deleted)", t.in.BasePath, err,
				t.summary.Deleted, len(t.tree.files))
		}
		t.file(files, it, paths[1+i])
	}
	for i, rel := range t.tree.emptied {
		// One that is not empty after all got a file meanwhile, or kept one that is among the errors.
		if t.in.DryRun || files.Remove(paths[1+len(t.tree.files)+i].Real) == nil {
			d.RemovedDirectories = appendListed(d.RemovedDirectories, rel)
		}
	}
	t.ok = t.summary.Deleted > 0 || t.summary.Errors == 0
	if !t.ok {
		return fmt.Errorf("delete files below %s: none of %d could be deleted: %w", t.in.BasePath, t.summary.Errors,
			t.first)
	}
	return nil
}

// file deletes one file, or finds out that it can.
func (t *deleteBatch) file(files engine.Files, it item, p facts.Path) {
	info, err := files.Lstat(p.Real)
	if err == nil && !t.in.DryRun {
		err = files.Remove(p.Real)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.summary.Skipped++
		t.details.SkippedFiles = appendListed(t.details.SkippedFiles, Skipped{it.rel, "it is gone already"})
	case err != nil:
		t.fail(it.rel, err)
	default:
		t.summary.Deleted++
		t.details.DeletedFiles = appendListed(t.details.DeletedFiles, DeletedFile{p.Path, it.rel, info.Size()})
	}
}

func (t *deleteBatch) fail(rel string, err error) {
	if t.first == nil {
		t.first = err
	}
	t.summary.Errors++
	t.details.Errors = appendListed(t.details.Errors, Problem{rel, cause(err).Error()})
}

// appendListed adds to a list of a result as long as that is not too long.
func appendListed[T any](list []T, v T) []T {
	if len(list) >= maxListed {
		return list
	}
	return append(list, v)
}

// Rehearses reports a dry run.
func (t *deleteBatch) Rehearses() bool { return t.in.DryRun }

func (t *deleteBatch) Result() Result {
	return Result{Operation: "delete_files_batch", Success: t.ok, Summary: t.summary, Details: &t.details}
}
