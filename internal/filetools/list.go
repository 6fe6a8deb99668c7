package filetools

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Bounds of list_directory.
const (
	maxListDepth = 10
	maxListDirs  = 500 // directories that one call opens
)

// ListDirectoryInput asks for the entries of a directory.
type ListDirectoryInput struct {
	Path            string   `json:"path,omitempty" jsonschema:"directory; absolute or relative to the workspace (default: the workspace)"`
	Depth           int      `json:"depth,omitempty" jsonschema:"directories inside each other to list, at most 10 (default 1: the entries alone)"`
	ExcludePatterns []string `json:"exclude_patterns,omitempty" jsonschema:"globs of entries to leave out, on the path relative to the directory; * crosses directories"`
}

// ListDirectoryDetails is the result of list_directory.
type ListDirectoryDetails struct {
	Path     string    `json:"path" jsonschema:"the directory, absolute"`
	Total    int       `json:"total" jsonschema:"entries, also those that the list does not show"`
	Entries  []Entry   `json:"entries" jsonschema:"sorted by path, at most 1000"`
	Note     string    `json:"note,omitempty" jsonschema:"omissions of the list"`
	Problems []Problem `json:"problems,omitempty" jsonschema:"directories that could not be read"`
}

// Entry is one entry of a directory.
type Entry struct {
	Path string `json:"path" jsonschema:"relative to the directory"`
	Kind string `json:"kind" jsonschema:"file, directory, symlink, fifo, socket or device"`
	Size int64  `json:"size,omitempty" jsonschema:"bytes of a file"`
}

type listDirectory struct {
	in      ListDirectoryInput
	exclude patterns
	dirs    []string // that are opened, relative; "" is the first
	note    string
	details ListDirectoryDetails
	ok      bool
}

// ListDirectory lists a directory, or a tree of some depth. It opens no file, follows no link below the
// directory and does not enter .git.
func ListDirectory(in ListDirectoryInput) Tool { return &listDirectory{in: in} }

func (t *listDirectory) Plan(files facts.FS) (_ []facts.Touch, err error) {
	if t.in.Path == "" {
		t.in.Path = "."
	}
	if t.in.Path, err = clean("path", t.in.Path); err != nil {
		return nil, err
	}
	if t.in.Depth > maxListDepth {
		return nil, fmt.Errorf("depth: %d: ask for 1 to %d", t.in.Depth, maxListDepth)
	}
	if t.exclude, err = parsePatterns("exclude_patterns", t.in.ExcludePatterns); err != nil {
		return nil, err
	}
	granted, err := lookBase(files, "list", t.in.Path)
	if err != nil {
		return nil, err
	}
	if t.dirs = []string{""}; granted {
		t.plan(files, "", max(1, t.in.Depth))
	}
	out := make([]facts.Touch, len(t.dirs))
	for i, rel := range t.dirs {
		out[i] = facts.Touch{Path: t.in.Path, Access: "read"}
		if rel != "" {
			out[i].Path = below(t.in.Path, rel)
		}
	}
	return out, nil
}

// plan finds the directories to open.
func (t *listDirectory) plan(files facts.FS, rel string, depth int) {
	if depth == 1 {
		return
	}
	at := t.in.Path
	if rel != "" {
		at = below(at, rel)
	}
	entries, err := files.ReadDir(at)
	if err != nil {
		return // Run finds the same and says so
	}
	for _, e := range entries {
		name := join(rel, e.Name())
		if !e.IsDir() || e.Name() == ".git" || t.exclude.match(name) || t.exclude.matchAllBelow(name) {
			continue
		}
		if len(t.dirs) == maxListDirs {
			t.note = fmt.Sprintf("only %d directories are listed: exclude some", maxListDirs)
			return
		}
		t.dirs = append(t.dirs, name)
		t.plan(files, name, depth-1)
	}
}

func (t *listDirectory) Run(ctx context.Context, files engine.Files, paths []facts.Path) error {
	t.details = ListDirectoryDetails{Path: paths[0].Path, Entries: []Entry{}, Note: t.note}
	d := &t.details
	for i, rel := range t.dirs {
		if err := alive(ctx); err != nil {
			return fmt.Errorf("list %s: %w", t.in.Path, err)
		}
		entries, err := files.ReadDir(paths[i].Real)
		switch {
		case err != nil && i == 0:
			return fmt.Errorf("list %s: %w", t.in.Path, cause(err))
		case err != nil:
			d.Problems = appendListed(d.Problems, Problem{rel, cause(err).Error()})
			continue
		}
		for _, e := range entries {
			if name := join(rel, e.Name()); !t.exclude.match(name) {
				t.entry(name, e)
			}
		}
	}
	if d.Total > len(d.Entries) && d.Note == "" {
		d.Note = fmt.Sprintf("%d entries are not shown: list less, or exclude some", d.Total-len(d.Entries))
	}
	t.ok = true
	return nil
}

func (t *listDirectory) entry(name string, e fs.DirEntry) {
	one := Entry{Path: name, Kind: kindOf(e.Type())}
	if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
		one.Size = info.Size()
	}
	t.details.Total++
	t.details.Entries = appendListed(t.details.Entries, one)
}

func (t *listDirectory) Result() Result {
	return Result{Operation: "list_directory", Success: t.ok, Details: &t.details}
}
