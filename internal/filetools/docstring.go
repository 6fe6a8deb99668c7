package filetools

import (
	"context"
	"fmt"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/docstring"
)

// Bounds of the work and the result of read_docstring.
const (
	maxSource    = 4 << 20   // bytes of the source
	maxDocstring = 128 << 10 // bytes
	maxFunctions = 500
)

// ReadDocstringInput names a function of a Python source.
type ReadDocstringInput struct {
	FilePath     string `json:"file_path" jsonschema:"Python source; it is read, never run"`
	FunctionName string `json:"function_name,omitempty" jsonschema:"function, class or Class.method; empty for the module itself and a list of its public functions"`
}

// ReadDocstringDetails is the documentation in a Python source.
type ReadDocstringDetails struct {
	FilePath     string            `json:"file_path" jsonschema:"absolute"`
	FunctionName string            `json:"function_name" jsonschema:"as asked for; empty for the module"`
	Kind         string            `json:"kind" jsonschema:"module, class, function or method"`
	Signature    string            `json:"signature" jsonschema:"the header of the definition on one line; empty for the module"`
	Docstring    string            `json:"docstring" jsonschema:"without its indentation; empty when there is none"`
	Line         int               `json:"line" jsonschema:"where it is defined"`
	Functions    []docstring.Entry `json:"functions,omitempty" jsonschema:"the module's public functions with the first line of their docstrings; only for the module"`
	Note         string            `json:"note,omitempty" jsonschema:"omitted parts"`
}

type readDocstring struct {
	in      ReadDocstringInput
	details ReadDocstringDetails
	ok      bool
}

// ReadDocstring parses a Python source and runs nothing of it.
func ReadDocstring(in ReadDocstringInput) Tool { return &readDocstring{in: in} }

func (t *readDocstring) Plan(files facts.FS) (_ []facts.Touch, err error) {
	if t.in.FilePath, err = clean("file_path", t.in.FilePath); err != nil {
		return nil, err
	}
	if n := len(t.in.FunctionName); n > maxPath {
		return nil, fmt.Errorf("function_name: %d bytes: no name is that long", n)
	}
	return planReads(files, t.in.FilePath)
}

func (t *readDocstring) Run(ctx context.Context, files engine.Files, paths []facts.Path) error {
	d := &t.details
	*d = ReadDocstringDetails{FilePath: paths[0].Path, FunctionName: t.in.FunctionName}
	source, err := readUpTo(ctx, files, paths[0].Real, maxSource+1)
	if err != nil {
		return err
	}
	if len(source) > maxSource {
		return fmt.Errorf("read %s: longer than %d bytes: that is no source to look through", t.in.FilePath,
			maxSource)
	}
	if kind := binary(source[:min(len(source), headBytes)]); kind != "" {
		return fmt.Errorf("read %s: not a Python source but %s", t.in.FilePath, kind)
	}
	if err := t.find(source); err != nil {
		return fmt.Errorf("read docstring from %s: %w", t.in.FilePath, err)
	}
	t.ok = true
	return nil
}

func (t *readDocstring) find(source []byte) error {
	d := &t.details
	e, err := docstring.Find(source, t.in.FunctionName)
	if err != nil {
		return err
	}
	d.Kind, d.Signature, d.Docstring, d.Line = e.Kind, e.Signature, e.Docstring, e.Line
	if len(d.Docstring) > maxDocstring {
		d.Note = fmt.Sprintf("the docstring has %d bytes, of which the first %d are shown", len(d.Docstring),
			maxDocstring)
		d.Docstring = strings.ToValidUTF8(d.Docstring[:maxDocstring], "")
	}
	if t.in.FunctionName != "" {
		return nil
	}
	all, err := docstring.Functions(source)
	if len(all) > maxFunctions {
		d.Note = fmt.Sprintf("the module has %d public functions, of which the first %d are listed", len(all),
			maxFunctions)
		all = all[:maxFunctions]
	}
	for i := range all {
		all[i].Docstring, _, _ = strings.Cut(all[i].Docstring, "\n")
	}
	d.Functions = all
	return err
}

func (t *readDocstring) Result() Result {
	return Result{Operation: "read_docstring", Success: t.ok, Details: &t.details}
}
