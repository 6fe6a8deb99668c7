package filetools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Bounds of the result of compare_files.
const (
	maxFileDiff       = 500 // lines
	maxContextLines   = 100
	usualContextLines = 3
)

// CompareFilesInput asks how two files differ.
type CompareFilesInput struct {
	File1        string `json:"file1" jsonschema:"the first file, the old one"`
	File2        string `json:"file2" jsonschema:"the second file, the new one"`
	ContextLines *int   `json:"context_lines,omitempty" jsonschema:"equal lines to show around a difference (default 3)"`
}

// CompareFilesDetails is how two files differ.
type CompareFilesDetails struct {
	File1     string     `json:"file1" jsonschema:"absolute"`
	File2     string     `json:"file2" jsonschema:"absolute"`
	Identical bool       `json:"identical" jsonschema:"the contents are the same, byte by byte"`
	Diff      string     `json:"diff" jsonschema:"unified diff, at most 500 lines; empty when identical or when not made"`
	Stats     *DiffStats `json:"stats,omitempty" jsonschema:"lines over all, also those that the diff does not show; absent when no diff was made"`
	Note      string     `json:"note,omitempty" jsonschema:"why there is no diff"`
}

type compareFiles struct {
	in      CompareFilesInput
	details CompareFilesDetails
	ok      bool
}

// CompareFiles compares two files, byte by byte and then line by line.
func CompareFiles(in CompareFilesInput) Tool { return &compareFiles{in: in} }

func (t *compareFiles) Plan(files facts.FS) (_ []facts.Touch, err error) {
	if t.in.File1, err = clean("file1", t.in.File1); err != nil {
		return nil, err
	}
	if t.in.File2, err = clean("file2", t.in.File2); err != nil {
		return nil, err
	}
	if n := t.in.ContextLines; n != nil && (*n < 0 || *n > maxContextLines) {
		return nil, fmt.Errorf("context_lines: %d: ask for 0 to %d", *n, maxContextLines)
	}
	return planReads(files, t.in.File1, t.in.File2)
}

func (t *compareFiles) Run(ctx context.Context, files engine.Files, paths []facts.Path) error {
	t.details = CompareFilesDetails{File1: paths[0].Path, File2: paths[1].Path}
	around := usualContextLines
	if t.in.ContextLines != nil {
		around = *t.in.ContextLines
	}
	c, err := compareContents(ctx, files, paths[0].Real, paths[1].Real)
	if err != nil {
		return fmt.Errorf("compare %s with %s: %w", t.in.File1, t.in.File2, err)
	}
	t.details.Identical, t.details.Note, t.ok = c.same, c.note, true
	if c.diffable() {
		d := compareLines(c.a, c.b)
		stats := d.stats()
		t.details.Stats = &stats
		t.details.Diff = d.unified(paths[0].Path, paths[1].Path, around, maxFileDiff)
	} else if c.same {
		t.details.Stats = &DiffStats{}
	}
	return nil
}

func (t *compareFiles) Result() Result {
	return Result{Operation: "compare_files", Success: t.ok, Details: &t.details}
}

// comparison is the result of reading two files.
type comparison struct {
	same bool
	a, b []byte // their content, for a diff; empty if there can be none
	note string // why there can be no diff of files that differ
}

func (c comparison) diffable() bool { return !c.same && c.note == "" }

// compareContents reads two files, and keeps them as far as a diff can be made of them.
func compareContents(ctx context.Context, files engine.Files, a, b string) (comparison, error) {
	var c comparison
	x, err := readUpTo(ctx, files, a, maxCompared+1)
	if err != nil {
		return c, err
	}
	y, err := readUpTo(ctx, files, b, maxCompared+1)
	if err != nil {
		return c, err
	}
	if long := len(x) > maxCompared || len(y) > maxCompared; long {
		c.same, err = sameContents(ctx, files, a, b)
		if err == nil && !c.same {
			c.note = fmt.Sprintf("they differ; one is longer than %d bytes, so no diff was made", maxCompared)
		}
		return c, err
	}
	c.same = bytes.Equal(x, y)
	switch kind := binary(x[:min(len(x), headBytes)]); {
	case c.same:
		return c, nil
	case kind == "" && binary(y[:min(len(y), headBytes)]) == "":
	default:
		c.note = fmt.Sprintf("they differ and are not both text: %d and %d bytes, so no diff was made", len(x),
			len(y))
		return c, nil
	}
	if n := max(bytes.Count(x, []byte("\n")), bytes.Count(y, []byte("\n"))); n >= maxComparedAll {
		c.note = fmt.Sprintf("they differ; one has %d lines, more than the %d of which a diff is made", n,
			maxComparedAll)
		return c, nil
	}
	c.a, c.b = x, y
	return c, nil
}

func readUpTo(ctx context.Context, files engine.Files, name string, limit int64) ([]byte, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(steady{ctx, f}, limit))
}

// sameContents compares two files without keeping them.
func sameContents(ctx context.Context, files engine.Files, a, b string) (bool, error) {
	x, err := files.Open(a)
	if err != nil {
		return false, err
	}
	defer x.Close()
	y, err := files.Open(b)
	if err != nil {
		return false, err
	}
	defer y.Close()
	p, q := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(steady{ctx, x}, p)
		if err != nil && !atEnd(err) {
			return false, err
		}
		m, errY := io.ReadFull(steady{ctx, y}, q)
		if errY != nil && !atEnd(errY) {
			return false, errY
		}
		if !bytes.Equal(p[:n], q[:m]) {
			return false, nil
		}
		if err != nil || errY != nil {
			return true, nil // both end here: they had the same length so far
		}
	}
}

func atEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
