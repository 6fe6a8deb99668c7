package filetools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// WriteFileInput asks for a file with a content.
type WriteFileInput struct {
	Path      string `json:"path" jsonschema:"file to write; absolute or relative to the workspace; missing directories are made"`
	Content   string `json:"content" jsonschema:"the whole new content"`
	Overwrite *bool  `json:"overwrite,omitempty" jsonschema:"replace a file that is there already (default true)"`
}

// WriteFileDetails is the result of write_file.
type WriteFileDetails struct {
	Path         string `json:"path" jsonschema:"the file, absolute"`
	BytesWritten int64  `json:"bytes_written" jsonschema:"bytes of the content"`
	Created      bool   `json:"created" jsonschema:"there was no such file before"`
	Replaced     bool   `json:"replaced" jsonschema:"there was a file, and its content is gone"`
}

type writeFile struct {
	in      WriteFileInput
	details WriteFileDetails
	ok      bool
}

// WriteFile writes a file, whole or not at all. A link is followed to its judged target.
func WriteFile(in WriteFileInput) Tool { return &writeFile{in: in} }

func (t *writeFile) overwrite() bool { return t.in.Overwrite == nil || *t.in.Overwrite }

func (t *writeFile) Plan(files facts.FS) (_ []facts.Touch, err error) {
	if t.in.Path, err = clean("path", t.in.Path); err != nil {
		return nil, err
	}
	f, err := look(files, t.in.Path)
	if err == nil && f.granted && f.info.IsDir() {
		return nil, fmt.Errorf("write %s: it is a directory: name a file", t.in.Path)
	}
	return []facts.Touch{{Path: t.in.Path, Access: "write"}}, nil // missing parts will be made
}

func (t *writeFile) Run(ctx context.Context, files engine.Files, paths []facts.Path) error {
	d := &t.details
	d.Path = paths[0].Path
	_, err := files.Lstat(paths[0].Real)
	there := err == nil
	if there && !t.overwrite() {
		return fmt.Errorf("write %s: it is there already: use overwrite=true to replace it", t.in.Path)
	}
	d.BytesWritten, err = files.Write(paths[0].Real, steady{ctx, strings.NewReader(t.in.Content)},
		engine.WriteOptions{Replace: t.overwrite()})
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("write %s: it is there already: use overwrite=true to replace it", t.in.Path)
	case err != nil:
		return err
	}
	d.Created, d.Replaced, t.ok = !there, there, true
	return nil
}

func (t *writeFile) Result() Result {
	return Result{Operation: "write_file", Success: t.ok, Details: &t.details}
}
