// Package filetools is the work of the file tools: reading, writing, deleting, copying and comparing
// files, each call as an engine.Operation that the gate judges, records and runs.
//
// An operation names every path that it needs (Plan), and later works on exactly the real paths that
// were judged (Run), through the engine.Files that the gate hands to it. It never opens a file by
// itself and it judges nothing: policies decide which paths it may touch. Errors here are about
// invalid requests, bounds, and answers of the file system.
//
// It knows nothing of the protocol by which a call came in: an entrance fills an input struct, hands the
// operation to the gate and, when that is done, asks for the Result.
package filetools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Tool is one call of a file tool. It serves for one request at a time.
type Tool interface {
	engine.Operation
	// Result describes the work. It is meaningful once the gate's outcome says that the operation ran; after
	// an error it describes the work until then.
	Result() Result
}

// Result is the result of a call.
type Result struct {
	Operation string // the tool's name
	Success   bool   // false when it ended with an error, or when everything that it should do failed
	Summary   any    // counts, of the batch tools only: a DeleteSummary or a CopySummary
	Details   any    // a pointer to the …Details struct of the tool
}

// Problem is one file of several with which something was wrong.
type Problem struct {
	Path  string `json:"path" jsonschema:"the file"`
	Error string `json:"error" jsonschema:"the error"`
}

// Skipped is one file of several that was left as it is.
type Skipped struct {
	Path   string `json:"path" jsonschema:"the file"`
	Reason string `json:"reason" jsonschema:"why it was left as it is"`
}

// maxListed bounds each list of files in a result. Counts are always of all.
const maxListed = 1000

// maxPath bounds a path of a request, in bytes; no system takes longer ones.
const maxPath = 4096

// clean checks the text of a path and returns it with slashes and without one at its end. A ~ has no special
// meaning here, and the author of ~/x does not mean a directory of that name.
func clean(parameter, p string) (string, error) {
	switch {
	case p == "":
		return "", fmt.Errorf("%s: empty: name a path", parameter)
	case len(p) > maxPath:
		return "", fmt.Errorf("%s: %d bytes: a path has at most %d", parameter, len(p), maxPath)
	case strings.ContainsRune(p, 0):
		return "", fmt.Errorf("%s: it contains a NUL byte: no path does", parameter)
	case p == "~" || strings.HasPrefix(p, "~/"):
		return "", fmt.Errorf(
			"%s: %s: ~ is not expanded here: write the path in full, or ./%s for a directory of that name", parameter,
			p, p)
	}
	p = filepath.ToSlash(p)
	for len(p) > 1 && (strings.HasSuffix(p, "/") || strings.HasSuffix(p, "/.")) {
		p = strings.TrimSuffix(strings.TrimSuffix(p, "."), "/")
	}
	if p == "" {
		return "/", nil
	}
	return p, nil
}

// below joins a base and a path below it. It does not clean them, so that "./~x" stays as it is.
func below(base, rel string) string {
	return strings.TrimSuffix(base, "/") + "/" + rel
}

// found is the target of a request's path.
type found struct {
	info    fs.FileInfo // nil where nothing is granted
	granted bool
}

// maxLinks is how many symbolic links one path may go through.
const maxLinks = 40

// look finds the target of a path, following links. A place that is not granted is not looked at and no
// error: its bare touch lets the policies refuse it, with their reason.
func look(files facts.FS, p string) (found, error) {
	at := p
	for range maxLinks {
		f, err := peek(files, at)
		if err != nil || !f.granted || f.info.Mode()&fs.ModeSymlink == 0 {
			return f, renamed(err, p)
		}
		target, err := files.ReadLink(at)
		if err != nil {
			return found{}, renamed(err, p)
		}
		if !path.IsAbs(filepath.ToSlash(target)) && !filepath.IsAbs(target) {
			target = below(path.Dir(at), target)
		}
		at = target
	}
	return found{}, fmt.Errorf("%s: more than %d symbolic links", p, maxLinks)
}

// lookAt is look for the path itself, be it a link.
func lookAt(files facts.FS, p string) (found, error) {
	f, err := peek(files, p)
	return f, renamed(err, p)
}

func peek(files facts.FS, p string) (found, error) {
	info, err := files.Lstat(p)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return found{}, nil
	case err != nil:
		return found{}, err
	}
	return found{info, true}, nil
}

// renamed says an error about a path as it was asked for.
func renamed(err error, p string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: does not exist: check the path; relative ones start at the workspace", p)
	}
	return fmt.Errorf("%s: %w", p, cause(err))
}

// cause is an error without the name of the system call and the path, which the caller names.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// kindOf names the type of a file as results have it.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeSymlink != 0:
		return "symlink"
	case mode&fs.ModeNamedPipe != 0:
		return "fifo"
	case mode&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}

// steady is a reader that ends when ctx does.
type steady struct {
	ctx context.Context
	r   io.Reader
}

func (s steady) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.r.Read(p)
}

// alive returns why ctx has ended, or nil.
func alive(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
