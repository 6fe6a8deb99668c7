package filetools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// CopyFilesBatchInput asks for copies of the files below a directory that match patterns.
type CopyFilesBatchInput struct {
	SourceBasePath      string   `json:"source_base_path" jsonschema:"directory to copy from"`
	DestinationBasePath string   `json:"destination_base_path,omitempty" jsonschema:"directory to copy to, made if missing (default: the workspace)"`
	IncludePatterns     []string `json:"include_patterns,omitempty" jsonschema:"globs on the path relative to source_base_path, in which * crosses directories (default: everything)"`
	ExcludePatterns     []string `json:"exclude_patterns,omitempty" jsonschema:"globs of files that are not copied; they win over include_patterns"`
	Overwrite           bool     `json:"overwrite,omitempty" jsonschema:"replace files that are there; otherwise they are skipped (default false)"`
	DryRun              bool     `json:"dry_run,omitempty" jsonschema:"only list the files that would be copied; policies judge it all the same (default false)"`
}

// CopySummary counts the work of copy_files_batch.
type CopySummary struct {
	Copied  int `json:"copied"`
	Skipped int `json:"skipped"`
	Errors  int `json:"errors"`
}

// CopyFilesBatchDetails is the result of copy_files_batch. Each list has at most 1000 entries.
type CopyFilesBatchDetails struct {
	CopiedFiles  []CopiedFile `json:"copied_files" jsonschema:"the copied files; with dry_run, those that would be copied"`
	SkippedFiles []Skipped    `json:"skipped_files"`
	Errors       []Problem    `json:"errors"`
	DryRun       bool         `json:"dry_run,omitempty" jsonschema:"nothing was copied"`
}

// CopiedFile is one file of a batch.
type CopiedFile struct {
	Source       string `json:"source" jsonschema:"absolute"`
	Destination  string `json:"destination" jsonschema:"absolute"`
	RelativePath string `json:"relative_path" jsonschema:"relative to both base paths"`
	Size         int64  `json:"size" jsonschema:"bytes; 0 for a symbolic link"`
	Link         bool   `json:"link,omitempty" jsonschema:"it is a symbolic link, and was copied as one"`
}

type copyBatch struct {
	in      CopyFilesBatchInput
	tree    tree
	steps   []step
	planned bool
	summary CopySummary
	details CopyFilesBatchDetails
	first   error // why the first file could not be copied
	ok      bool
}

// CopyFilesBatch copies files below a directory, keeping their relative paths.
func CopyFilesBatch(in CopyFilesBatchInput) Tool { return &copyBatch{in: in} }

func (t *copyBatch) Plan(files facts.FS) (_ []facts.Touch, err error) {
	if t.in.DestinationBasePath == "" {
		t.in.DestinationBasePath = "."
	}
	if t.in.SourceBasePath, err = clean("source_base_path", t.in.SourceBasePath); err != nil {
		return nil, err
	}
	if t.in.DestinationBasePath, err = clean("destination_base_path", t.in.DestinationBasePath); err != nil {
		return nil, err
	}
	takes, err := parseSelection(t.in.IncludePatterns, t.in.ExcludePatterns)
	if err != nil {
		return nil, err
	}
	granted, err := lookBase(files, "copy files below", t.in.SourceBasePath)
	if err != nil {
		return nil, err
	}
	bases := []facts.Touch{{Path: t.in.SourceBasePath, Access: "read", Recursive: true},
		{Path: t.in.DestinationBasePath, Access: "write"}}
	if !granted {
		return bases, nil
	}
	avoid, err := t.destination(files)
	if err != nil {
		return nil, err
	}
	if t.tree, err = grow(files, t.in.SourceBasePath, takes, avoid); err != nil {
		return nil, fmt.Errorf("copy files below %w", err)
	}
	t.planned = true
	return t.touches(), nil
}

// destination looks up the directory to copy to: it is not copied itself when it lies in the source.
func (t *copyBatch) destination(files facts.FS) (fs.FileInfo, error) {
	f, err := look(files, t.in.DestinationBasePath)
	switch {
	case err != nil || !f.granted:
		return nil, nil //nolint:nilerr // a missing place will be made, and one that is not granted is judged
	case !f.info.IsDir():
		return nil, fmt.Errorf("copy to %s: it is a %s, not a directory", t.in.DestinationBasePath,
			kindOf(f.info.Mode()))
	}
	source, err := look(files, t.in.SourceBasePath)
	if err == nil && source.granted && engine.SameFile(source.info, f.info) {
		return nil, fmt.Errorf("copy files below %s: the destination is the same directory: choose another",
			t.in.SourceBasePath)
	}
	return f.info, nil
}

// touches names the directory, and each file as it is read and as it is written. A link is only written: its
// target is not read.
func (t *copyBatch) touches() []facts.Touch {
	out := []facts.Touch{{Path: t.in.SourceBasePath, Access: "read"}}
	t.steps = nil
	for _, it := range t.tree.files {
		s := step{item: it, from: -1}
		if it.mode.IsRegular() {
			s.from = len(out)
			out = append(out, facts.Touch{Path: below(t.in.SourceBasePath, it.rel), Access: "read"})
		}
		s.to = len(out)
		out = append(out, facts.Touch{Path: below(t.in.DestinationBasePath, it.rel), Access: "write"})
		t.steps = append(t.steps, s)
	}
	return out
}

func (t *copyBatch) Run(ctx context.Context, files engine.Files, paths []facts.Path) error {
	t.summary, t.first, t.ok = CopySummary{}, nil, false
	t.details = CopyFilesBatchDetails{CopiedFiles: []CopiedFile{}, SkippedFiles: []Skipped{},
		Errors: []Problem{}, DryRun: t.in.DryRun}
	if !t.planned {
		return fmt.Errorf(
			"copy files below %s: its files cannot be listed, because nothing is granted there or the system refuses "+
				"it: name them one by one", t.in.SourceBasePath)
	}
	for _, p := range t.tree.problems {
		t.fail(p.Path, errors.New(p.Error))
	}
	c := copier{files: files, paths: paths, overwrite: t.in.Overwrite, dryRun: t.in.DryRun}
	for _, s := range t.steps {
		if err := alive(ctx); err != nil {
			return fmt.Errorf("copy files below %s: %w (%d of %d are copied)", t.in.SourceBasePath, err,
				t.summary.Copied, len(t.steps))
		}
		t.file(ctx, c, s)
	}
	t.ok = t.summary.Errors == 0 || t.summary.Copied > 0
	if !t.ok {
		return fmt.Errorf("copy files below %s: none of %d could be copied: %w", t.in.SourceBasePath,
			t.summary.Errors, t.first)
	}
	return nil
}

func (t *copyBatch) file(ctx context.Context, c copier, s step) {
	done, err := c.copy(ctx, s)
	switch {
	case err != nil:
		t.fail(s.rel, err)
	case done.skipped != "":
		t.summary.Skipped++
		t.details.SkippedFiles = appendListed(t.details.SkippedFiles, Skipped{s.rel, done.skipped})
	default:
		t.summary.Copied++
		t.details.CopiedFiles = appendListed(t.details.CopiedFiles,
			CopiedFile{below(c.paths[0].Path, s.rel), c.paths[s.to].Path, s.rel, done.size, done.link})
	}
}

func (t *copyBatch) fail(rel string, err error) {
	if t.first == nil {
		t.first = err
	}
	t.summary.Errors++
	t.details.Errors = appendListed(t.details.Errors, Problem{rel, cause(err).Error()})
}

// Rehearses reports a dry run.
func (t *copyBatch) Rehearses() bool { return t.in.DryRun }

func (t *copyBatch) Result() Result {
	return Result{Operation: "copy_files_batch", Success: t.ok, Summary: t.summary, Details: &t.details}
}
