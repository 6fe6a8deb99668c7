package filetools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Bounds of edit_file.
const (
	maxEdited  = 4 << 20 // bytes of the file, before and after the edits
	maxEdits   = 100
	maxEditOut = 200 // lines of the diff in the result
)

// EditFileInput asks for replacements in a text file.
type EditFileInput struct {
	Path  string `json:"path" jsonschema:"text file to change; absolute or relative to the workspace"`
	Edits []Edit `json:"edits" jsonschema:"replacements, made one after the other: all of them or none; at most 100"`
}

// Edit is one replacement of literal text.
type Edit struct {
	OldText    string `json:"old_text" jsonschema:"text to replace, literally, with its line ends and indentation; it must occur exactly once; empty in the only edit: make a new file of new_text"`
	NewText    string `json:"new_text" jsonschema:"text to put in its place"`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"replace every occurrence (default false: several are an error)"`
}

// EditFileDetails is the result of edit_file.
type EditFileDetails struct {
	Path         string    `json:"path" jsonschema:"the file, absolute"`
	Created      bool      `json:"created,omitempty" jsonschema:"there was no such file before"`
	Replacements int       `json:"replacements" jsonschema:"occurrences that were replaced, over all edits"`
	Diff         string    `json:"diff" jsonschema:"unified diff, at most 200 lines"`
	Stats        DiffStats `json:"stats" jsonschema:"lines over all, also those that the diff does not show"`
}

type editFile struct {
	in      EditFileInput
	details EditFileDetails
	ok      bool
}

// EditFile replaces literal texts in a file: all of them, or none. A link is followed to its judged target.
// One edit without a text to replace makes a file, for hosts that take write_file away with their own tool of
// that name.
func EditFile(in EditFileInput) Tool { return &editFile{in: in} }

func (t *editFile) creates() bool {
	return len(t.in.Edits) == 1 && t.in.Edits[0].OldText == "" && t.in.Edits[0].NewText != ""
}

func (t *editFile) Plan(files facts.FS) (_ []facts.Touch, err error) {
	if t.in.Path, err = clean("path", t.in.Path); err != nil {
		return nil, err
	}
	if n := len(t.in.Edits); n == 0 || n > maxEdits {
		return nil, fmt.Errorf("edits: %d of them: send 1 to %d", n, maxEdits)
	}
	if t.creates() {
		return []facts.Touch{{Path: t.in.Path, Access: "write"}}, nil // missing parts will be made
	}
	for i, e := range t.in.Edits {
		switch {
		case e.OldText == "":
			return nil, fmt.Errorf("edits[%d].old_text: empty: name the text to replace", i)
		case e.OldText == e.NewText:
			return nil, fmt.Errorf("edits[%d]: old_text and new_text are equal: nothing would change", i)
		}
	}
	if _, err := planReads(files, t.in.Path); err != nil {
		return nil, fmt.Errorf("edit: %w", err)
	}
	return []facts.Touch{partly(t.in.Path), {Path: t.in.Path, Access: "write"}}, nil
}

func (t *editFile) Run(ctx context.Context, files engine.Files, paths []facts.Path) error {
	t.details = EditFileDetails{Path: paths[0].Path}
	failed := func(err error) error { return fmt.Errorf("edit %s: %w", t.in.Path, cause(err)) }
	if t.creates() {
		text := t.in.Edits[0].NewText
		_, err := files.Write(paths[0].Real, steady{ctx, strings.NewReader(text)}, engine.WriteOptions{})
		if errors.Is(err, fs.ErrExist) {
			return failed(errors.New("it is there already: name the text to replace; nothing was changed"))
		}
		t.details.Created, t.ok = err == nil, err == nil
		t.describe(nil, []byte(text))
		return err
	}
	before, err := files.Lstat(paths[0].Real)
	if err != nil {
		return failed(err)
	}
	content, err := readUpTo(ctx, files, paths[0].Real, maxEdited+1)
	if err != nil {
		return failed(err)
	}
	if len(content) > maxEdited {
		return failed(fmt.Errorf("longer than %d bytes: use a command", maxEdited))
	}
	if kind := binary(content[:min(len(content), headBytes)]); kind != "" || !utf8.Valid(content) {
		return failed(fmt.Errorf("not UTF-8 text but %s", cmp.Or(kind, "another encoding")))
	}
	text := string(content)
	for i, e := range t.in.Edits {
		n := strings.Count(text, e.OldText)
		unchanged := func(format string, args ...any) error {
			return failed(fmt.Errorf("edits[%d]: %s; nothing was changed", i, fmt.Sprintf(format, args...)))
		}
		switch {
		case n == 0:
			return unchanged("old_text does not occur%s", nearest(text, e.OldText))
		case n > 1 && !e.ReplaceAll:
			return unchanged("old_text occurs %d times, in lines %s: add lines around it, or set replace_all",
				n, linesOf(text, e.OldText))
		case len(text)+n*(len(e.NewText)-len(e.OldText)) > maxEdited:
			return unchanged("the file would be longer than %d bytes", maxEdited)
		}
		text = strings.ReplaceAll(text, e.OldText, e.NewText)
		t.details.Replacements += n
	}
	t.describe(content, []byte(text))
	now, err := files.Lstat(paths[1].Real)
	if err != nil {
		return failed(err)
	}
	changed := before.Size() != now.Size() || !before.ModTime().Equal(now.ModTime())
	if changed || !engine.SameFile(before, now) {
		return failed(errors.New("another program has changed it: read it again; nothing was changed"))
	}
	after := steady{ctx, strings.NewReader(text)}
	_, err = files.Write(paths[1].Real, after, engine.WriteOptions{Replace: true})
	t.ok = err == nil
	return err
}

func (t *editFile) describe(before, after []byte) {
	d := compareLines(before, after)
	t.details.Stats = d.stats()
	t.details.Diff = d.unified(t.details.Path, t.details.Path, usualContextLines, maxEditOut)
}

// linesOf names the lines, counted from 1, in which the first occurrences of a text start.
func linesOf(text, part string) string {
	const most = 5
	var out []string
	line := 1
	for range most {
		at := strings.Index(text, part)
		if at < 0 {
			return strings.Join(out, ", ")
		}
		line += strings.Count(text[:at], "\n")
		out = append(out, fmt.Sprint(line))
		line += strings.Count(part, "\n")
		text = text[at+len(part):]
	}
	if strings.Contains(text, part) {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}

// nearest describes the lines that differ from a text in white space or in later lines only. Most texts that
// do not occur differ in indentation or line ends.
func nearest(text, part string) string {
	if strings.Contains(part, "\n") && strings.Contains(strings.ReplaceAll(text, "\r\n", "\n"), part) {
		return `: the file ends its lines with \r\n, and the text ends them with \n`
	}
	wanted := strings.Split(strings.Trim(part, "\r\n"), "\n")
	have := strings.Split(text, "\n")
	best, at := 0, 0
	for i := range have {
		n := 0
		for n < len(wanted) && i+n < len(have) && squeezed(have[i+n]) == squeezed(wanted[n]) {
			n++
		}
		if n > best && squeezed(have[i]) != "" {
			best, at = n, i
		}
	}
	if best == 0 {
		return ": no line of it does"
	}
	shown := have[at:min(len(have), at+min(len(wanted), 10))]
	if len(shown) > 0 && len(strings.Join(shown, "\n")) > maxNearest {
		shown = shown[:1]
	}
	how := "in white space"
	if best < len(wanted) {
		how = fmt.Sprintf("from its line %d on", best+1)
	}
	return fmt.Sprintf(": lines %d to %d come nearest and differ %s:\n%s\n",
		at+1, at+len(shown), how, cut(strings.Join(shown, "\n"), maxNearest))
}

// maxNearest bounds the part of a file that an error shows, in bytes.
const maxNearest = 2000

func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return string(trimPartialRune([]byte(s[:most]))) + "…"
}

// squeezed is a line in which all white space is alike.
func squeezed(line string) string { return strings.Join(strings.Fields(line), " ") }

func (t *editFile) Result() Result {
	return Result{Operation: "edit_file", Success: t.ok, Details: &t.details}
}
