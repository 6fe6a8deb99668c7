package filetools

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Bounds of search_files.
const (
	maxSearchTexts   = 20
	maxSearchBytes   = 64 << 20 // of all files that it reads
	maxSearchContext = 20       // lines around a match
	maxFound         = 24 << 10 // bytes of the matching lines in the result
	maxFoundLine     = 400      // bytes of one of them
	usualMatches     = 200
	mostMatches      = 5000
)

// SearchFilesInput asks for the lines of text files that contain a text.
type SearchFilesInput struct {
	Texts           []string `json:"texts" jsonschema:"literal texts, not regular expressions; a line matches that contains one of them"`
	Path            string   `json:"path,omitempty" jsonschema:"file to search, or directory with everything below it (default: the workspace)"`
	IncludePatterns []string `json:"include_patterns,omitempty" jsonschema:"globs of the files to search, on the path relative to the directory; * crosses directories (default: all)"`
	ExcludePatterns []string `json:"exclude_patterns,omitempty" jsonschema:"globs of files to leave out, and with /* of directories"`
	IgnoreCase      bool     `json:"ignore_case,omitempty" jsonschema:"upper and lower case are alike (default false)"`
	Hidden          bool     `json:"hidden,omitempty" jsonschema:"search hidden files, too, except .git (default false)"`
	NoIgnore        bool     `json:"no_ignore,omitempty" jsonschema:"search files that .gitignore and .ignore name, too (default false)"`
	ContextLines    int      `json:"context_lines,omitempty" jsonschema:"lines to show around each match, at most 20 (default 0)"`
	FilesOnly       bool     `json:"files_only,omitempty" jsonschema:"list the files that match and not their lines (default false)"`
	MaxMatches      int      `json:"max_matches,omitempty" jsonschema:"matching lines after which the search ends, at most 5000 (default 200)"`
}

// SearchFilesDetails is the result of search_files.
type SearchFilesDetails struct {
	Path     string    `json:"path" jsonschema:"absolute"`
	Matches  int       `json:"matches" jsonschema:"matching lines"`
	Matching int       `json:"matching_files" jsonschema:"files with such lines"`
	Searched int       `json:"searched_files" jsonschema:"text files that were read"`
	Note     string    `json:"note,omitempty" jsonschema:"omissions of the result, with the reason"`
	Problems []Problem `json:"problems,omitempty" jsonschema:"files that could not be read"`
	Found    string    `json:"found" jsonschema:"path:line:text for each match, path-line-text for the lines around it; with files_only a path each"`
}

type searchFiles struct {
	in      SearchFilesInput
	takes   selection
	single  bool // the path is a file
	tree    tree
	planned bool
	details SearchFilesDetails
	ok      bool
}

// SearchFiles finds literal texts in a file, or in the files below a directory. Links are not followed.
func SearchFiles(in SearchFilesInput) Tool { return &searchFiles{in: in} }

func (t *searchFiles) Plan(files facts.FS) (_ []facts.Touch, err error) {
	if t.in.Path == "" {
		t.in.Path = "."
	}
	if t.in.Path, err = clean("path", t.in.Path); err != nil {
		return nil, err
	}
	switch n := len(t.in.Texts); {
	case n == 0 || n > maxSearchTexts:
		return nil, fmt.Errorf("texts: %d of them: send 1 to %d", n, maxSearchTexts)
	case slices.ContainsFunc(t.in.Texts, isNoPartOfALine):
		return nil, errors.New("texts: each is a part of one line: it is neither empty nor has line ends")
	case t.in.ContextLines > maxSearchContext:
		return nil, fmt.Errorf("context_lines: %d: ask for 0 to %d", t.in.ContextLines, maxSearchContext)
	case t.in.MaxMatches > mostMatches:
		return nil, fmt.Errorf("max_matches: %d: ask for 1 to %d", t.in.MaxMatches, mostMatches)
	}
	if t.takes, err = parseSelection(t.in.IncludePatterns, t.in.ExcludePatterns); err != nil {
		return nil, err
	}
	f, err := look(files, t.in.Path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("search %w", err)
	case !f.granted:
		return []facts.Touch{{Path: below(t.in.Path, "."), Access: "read", Recursive: true}}, nil
	case f.info.Mode().IsRegular():
		t.single, t.planned = true, true
		return []facts.Touch{partly(t.in.Path)}, nil
	case !f.info.IsDir():
		return nil, fmt.Errorf("search %s: it is a %s, not a file", t.in.Path, kindOf(f.info.Mode()))
	}
	g := grower{fs: files, base: t.in.Path, takes: t.takes, visible: !t.in.Hidden, regular: true}
	if !t.in.NoIgnore {
		g.ignores = newIgnoring(files, t.in.Path)
	}
	if _, err := g.dir("", 0); err != nil {
		return nil, fmt.Errorf("search %s: %w", t.in.Path, err)
	}
	t.tree, t.planned = g.tree, true
	// The directory itself puts the request on record where nothing is read.
	out := []facts.Touch{{Path: t.in.Path, Access: "read"}}
	for _, it := range t.tree.files {
		out = append(out, partly(below(t.in.Path, it.rel)))
	}
	return out, nil
}

// partly is a read that shows parts of a file: being recursive, it does not count as having read the file.
func partly(p string) facts.Touch { return facts.Touch{Path: p, Access: "read", Recursive: true} }

func isNoPartOfALine(s string) bool { return s == "" || strings.ContainsAny(s, "\n\r") }

func (t *searchFiles) Run(ctx context.Context, files engine.Files, paths []facts.Path) error {
	t.details = SearchFilesDetails{Path: paths[0].Path, Problems: t.tree.problems}
	if !t.planned {
		return fmt.Errorf("search %s: nothing is granted there", t.in.Path)
	}
	s := search{searchFiles: t, ctx: ctx, files: files, room: maxSearchBytes, most: t.in.MaxMatches}
	if s.most == 0 {
		s.most = usualMatches
	}
	for _, text := range t.in.Texts {
		s.texts = append(s.texts, s.folded([]byte(text)))
	}
	names := []string{t.in.Path}
	if !t.single {
		names = names[:0]
		for _, it := range t.tree.files {
			names = append(names, it.rel)
		}
		paths = paths[1:]
	}
	for i, name := range names {
		if err := alive(ctx); err != nil {
			return fmt.Errorf("search %s: %w (%d of %d files are searched)", t.in.Path, err, i, len(names))
		}
		if s.full() {
			break
		}
		if err := s.file(name, paths[i].Real); err != nil {
			if alive(ctx) != nil {
				continue
			}
			t.details.Problems = appendListed(t.details.Problems, Problem{name, cause(err).Error()})
		}
	}
	t.details.Found, t.details.Note, t.ok = s.found.String(), strings.Join(s.notes, "; "), true
	return nil
}

// search is one search under way.
type search struct {
	*searchFiles
	ctx   context.Context
	files engine.Files
	texts [][]byte
	room  int64 // bytes that may still be read
	most  int
	found strings.Builder
	notes []string
}

// full reports whether the search has reached a bound.
func (s *search) full() bool { return len(s.notes) > 0 }

func (s *search) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

func (s *search) folded(line []byte) []byte {
	if s.in.IgnoreCase {
		return bytes.ToLower(line)
	}
	return line
}

func (s *search) matches(line []byte) bool {
	line = s.folded(line)
	return slices.ContainsFunc(s.texts, func(text []byte) bool { return bytes.Contains(line, text) })
}

// file searches one file. Files that are not text are passed over.
func (s *search) file(name, real string) error {
	f, err := s.files.Open(real)
	if err != nil {
		return err
	}
	defer f.Close()
	limited := &io.LimitedReader{R: steady{s.ctx, f}, N: s.room}
	r := bufio.NewReaderSize(limited, 64<<10)
	head, err := r.Peek(headBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if binary(head) == "" {
		s.details.Searched++
		err = s.lines(name, r)
	} else {
		err = nil
	}
	if s.room = limited.N; s.room <= 0 && !s.full() {
		s.note("it ended after %d bytes of files: narrow the path or the patterns", maxSearchBytes)
	}
	return err
}

// lines shows the matching lines of a file, and those around them.
func (s *search) lines(name string, r *bufio.Reader) error {
	var before []string // the last lines that were not shown
	after, shown, matched := 0, 0, false
	for number := 1; ; number++ {
		line, err := readLine(r)
		if len(line) == 0 && err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		text := strings.TrimRight(string(line), "\r\n")
		switch {
		case s.matches(line):
			if s.details.Matches++; !matched {
				matched = true
				s.details.Matching++
			}
			if s.in.FilesOnly {
				s.show("%s\n", name)
				s.enough()
				return nil
			}
			if first := number - len(before); s.in.ContextLines > 0 && shown > 0 && first > shown+1 {
				s.show("--\n")
			}
			for i, b := range before {
				s.show("%s-%d-%s\n", name, number-len(before)+i, brief(b))
			}
			before, after, shown = nil, s.in.ContextLines, number
			s.show("%s:%d:%s\n", name, number, brief(text))
			s.enough()
		case after > 0:
			s.show("%s-%d-%s\n", name, number, brief(text))
			after, shown = after-1, number
		case s.in.ContextLines > 0:
			if before = append(before, text); len(before) > s.in.ContextLines {
				before = before[1:]
			}
		}
		if s.full() {
			return nil
		}
	}
}

// enough ends the search at the number of matches that was asked for.
func (s *search) enough() {
	if s.details.Matches >= s.most && !s.full() {
		s.note("it ended at %d matches: name more of the text, or raise max_matches", s.most)
	}
}

// show adds to the result until that is full.
func (s *search) show(format string, args ...any) {
	if s.full() {
		return
	}
	if fmt.Fprintf(&s.found, format, args...); s.found.Len() > maxFound {
		s.note("it ended at %d bytes of lines: name more of the text, or use files_only", maxFound)
	}
}

// brief is a line as a result shows it.
func brief(line string) string {
	return strings.ToValidUTF8(cut(line, maxFoundLine), "\uFFFD")
}

// readLine reads one line, of which it keeps 64 KiB: a match behind that is not found.
func readLine(r *bufio.Reader) ([]byte, error) {
	piece, err := r.ReadSlice('\n')
	line := bytes.Clone(piece)
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = r.ReadSlice('\n')
	}
	return line, err
}

func (t *searchFiles) Result() Result {
	return Result{Operation: "search_files", Success: t.ok, Details: &t.details}
}
