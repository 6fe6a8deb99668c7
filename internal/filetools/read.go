package filetools

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Bounds of the content that one read_file returns, in bytes. Hosts cut results at some 30,000 characters.
const (
	usualContent = 24 << 10
	maxContent   = 256 << 10 // for a number of lines that was asked for
)

// ReadFileInput asks for lines of a text file.
type ReadFileInput struct {
	Path      string `json:"path" jsonschema:"text file to read; absolute or relative to the workspace"`
	Offset    int    `json:"offset,omitempty" jsonschema:"how many lines to leave out at the start (default 0)"`
	LineCount *int   `json:"line_count,omitempty" jsonschema:"how many lines to return at most (default: all that fit into 24 KiB; at most 256 KiB)"`
}

// ReadFileDetails is the result of read_file.
type ReadFileDetails struct {
	Path       string `json:"path" jsonschema:"the file, absolute"`
	Content    string `json:"content" jsonschema:"the lines, unchanged and without line numbers"`
	Size       int64  `json:"size" jsonschema:"bytes of the whole file"`
	TotalLines int    `json:"total_lines" jsonschema:"lines of the whole file"`
	Offset     int    `json:"offset" jsonschema:"lines before the content"`
	LineCount  int    `json:"line_count" jsonschema:"lines in the content"`
	NextOffset *int   `json:"next_offset,omitempty" jsonschema:"offset that continues where the content ends; absent at the end of the file"`
	Note       string `json:"note,omitempty" jsonschema:"parts of the file that the content does not show"`
}

type readFile struct {
	in      ReadFileInput
	details ReadFileDetails
	ok      bool
}

// ReadFile reads a text file, or some lines of it.
func ReadFile(in ReadFileInput) Tool { return &readFile{in: in} }

func (t *readFile) Plan(files facts.FS) (_ []facts.Touch, err error) {
	if t.in.Path, err = clean("path", t.in.Path); err != nil {
		return nil, err
	}
	if err := t.in.check(); err != nil {
		return nil, err
	}
	return planReads(files, t.in.Path)
}

func (in ReadFileInput) check() error {
	if in.Offset < 0 {
		return fmt.Errorf("offset: %d: count lines from 0", in.Offset)
	}
	if in.LineCount != nil && *in.LineCount < 1 {
		return fmt.Errorf("line_count: %d: ask for at least 1 line, or leave it out for all", *in.LineCount)
	}
	return nil
}

// Page returns lines of a text that is no file, as ReadFile returns those of a file.
func Page(in ReadFileInput, text string) (ReadFileDetails, error) {
	if err := in.check(); err != nil {
		return ReadFileDetails{}, err
	}
	t := readFile{in: in, details: ReadFileDetails{Path: in.Path, Offset: in.Offset}}
	err := t.lines(bufio.NewReader(strings.NewReader(text)))
	return t.details, err
}

// planReads names regular files that are read whole.
func planReads(files facts.FS, paths ...string) ([]facts.Touch, error) {
	var out []facts.Touch
	for _, p := range paths {
		f, err := look(files, p)
		switch {
		case err != nil:
			return nil, fmt.Errorf("read %w", err)
		case f.granted && !f.info.Mode().IsRegular():
			return nil, fmt.Errorf("read %s: it is a %s, not a file", p, kindOf(f.info.Mode()))
		}
		out = append(out, facts.Touch{Path: p, Access: "read"})
	}
	return out, nil
}

func (t *readFile) Run(ctx context.Context, files engine.Files, paths []facts.Path) error {
	t.details = ReadFileDetails{Path: paths[0].Path, Offset: t.in.Offset}
	f, err := files.Open(paths[0].Real)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(steady{ctx, f}, 64<<10)
	head, err := r.Peek(headBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read %s: %w", t.in.Path, cause(err))
	}
	if kind := binary(head); kind != "" {
		return fmt.Errorf("read %s: not a text file but %s: use a program that understands it", t.in.Path, kind)
	}
	if err := t.lines(r); err != nil {
		return fmt.Errorf("read %s: %w", t.in.Path, cause(err))
	}
	t.ok = true
	return nil
}

// window is the part of a file that was asked for, as far as it fits.
type window struct {
	from, to int // lines before it, and the last line of it
	most     int // bytes of content
	content  []byte
	lines    int  // in content
	last     int  // where in content the last of them starts
	full     bool // nothing more fits
	cut      bool // even the first line did not fit, and lacks its end
}

// add takes a piece of the line with the given number, counted from 1.
func (w *window) add(piece []byte, line int, starts bool) {
	if line <= w.from || line > w.to || w.full {
		return
	}
	if starts {
		w.last = len(w.content)
		w.lines++
	}
	room := w.most - len(w.content)
	if len(piece) <= room {
		w.content = append(w.content, piece...)
		return
	}
	w.full = true
	if w.lines == 1 {
		w.content, w.cut = append(w.content, piece[:room]...), true
		return
	}
	w.content = w.content[:w.last] // the next call starts with this line
	w.lines--
}

// lines reads to the end of the file, to know its size, and keeps the requested lines.
func (t *readFile) lines(r *bufio.Reader) error {
	d := &t.details
	w := window{from: d.Offset, to: math.MaxInt, most: usualContent}
	if n := t.in.LineCount; n != nil {
		w.most = maxContent
		if *n < w.to-w.from {
			w.to = w.from + *n
		}
	}
	for starts := true; ; {
		piece, err := r.ReadSlice('\n')
		if len(piece) > 0 {
			if starts {
				d.TotalLines++
			}
			d.Size += int64(len(piece))
			w.add(piece, d.TotalLines, starts)
			starts = piece[len(piece)-1] == '\n'
		}
		switch {
		case err == nil, errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			t.finish(w)
			return nil
		default:
			return err
		}
	}
}

// finish fills in the content, the next offset, and the note about omitted parts.
func (t *readFile) finish(w window) {
	d := &t.details
	d.LineCount = w.lines
	content := w.content
	var notes []string
	if next := d.Offset + d.LineCount; next < d.TotalLines && d.LineCount > 0 {
		d.NextOffset = &next
		notes = append(notes, fmt.Sprintf("lines %d to %d of %d; continue with offset %d", d.Offset+1, next,
			d.TotalLines, next))
	}
	if w.cut {
		cut := fmt.Sprintf("line %d is longer than %d bytes; its rest is left out", d.Offset+1, w.most)
		notes = append(notes, cut)
		content = trimPartialRune(content)
	}
	if d.Offset >= d.TotalLines && d.Offset > 0 {
		notes = append(notes, fmt.Sprintf("the file has only %d lines", d.TotalLines))
	}
	d.Content = string(content)
	if !utf8.ValidString(d.Content) {
		d.Content = strings.ToValidUTF8(d.Content, "\uFFFD")
		notes = append(notes, "bytes that are not UTF-8 are shown as \uFFFD")
	}
	d.Note = strings.Join(notes, "; ")
}

// trimPartialRune takes the start of a character that was cut off the end.
func trimPartialRune(b []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if at := len(b) - i; utf8.RuneStart(b[at]) {
			if !utf8.FullRune(b[at:]) {
				return b[:at]
			}
			break
		}
	}
	return b
}

func (t *readFile) Result() Result {
	return Result{Operation: "read_file", Success: t.ok, Details: &t.details}
}
