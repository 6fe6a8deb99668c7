package commands

import (
	"bytes"
	"embed"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed table/*.yaml
var files embed.FS

// ready is an index that was made beforehand, with the checksum of its files on the first line: to find two
// thousand rows in the files would take a tenth of the time of a check. If the files have changed since, it
// is made anew.
//
//go:embed index.txt
var ready string

// makeIndex makes the index of the files: lines of a name, a file, and the offsets at which a row begins and
// ends, with tabs between them, sorted by name.
func makeIndex() string {
	var lines []string
	list, _ := files.ReadDir("table")
	for _, f := range list {
		text, _ := files.ReadFile("table/" + f.Name())
		rows, _ := split(string(text), "") // a test holds that the files can be read
		end, first := len(text), len(lines)
		for _, r := range slices.Backward(rows) {
			begin := bytes.LastIndexByte(text[:end-len(r.below)-1], '\n') + 1
			for name := range strings.SplitSeq(r.key, ", ") {
				lines = append(lines, fmt.Sprintf("%s\t%s\t%d\t%d\n", name, f.Name(), begin, end))
			}
			end = begin
		}
		slices.Reverse(lines[first:])
	}
	slices.SortStableFunc(lines, func(a, b string) int {
		a, _, _ = strings.Cut(a, "\t")
		b, _, _ = strings.Cut(b, "\t")
		return strings.Compare(a, b)
	})
	return strings.Join(lines, "")
}

// checksum tells one state of the files from another.
func checksum() string {
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	var part [4096]byte
	list, _ := files.ReadDir("table")
	for _, f := range list {
		text, _ := files.Open("table/" + f.Name())
		info, _ := text.Stat()
		fmt.Fprintf(sum, "%s %d\n", f.Name(), info.Size())
		_, _ = io.CopyBuffer(sum, text, part[:]) // a copy of all files would take longer than their sum
	}
	return fmt.Sprintf("%08x", sum.Sum32())
}

// Table finds rows by command name. It is safe for concurrent use.
type Table struct {
	builtin  *builtin
	added    map[string][]*Entry // rows of With
	commands sync.Map            // string to *Command
}

// builtin are the rows that come with the program.
type builtin struct {
	index string
	found sync.Map // string to []*Entry, for the names of the index alone
	rows  sync.Map // by file and offset: *Entry, which the names of a row share
}

// Builtin is the table that comes with the program.
var Builtin = sync.OnceValue(Index)

// Index is the same table, of which nothing is read yet.
func Index() *Table { return indexed(ready) }

// indexed takes an index that was made beforehand, unless it is of other files.
func indexed(ready string) *Table {
	sum, index, _ := strings.Cut(ready, "\n")
	if sum != checksum() {
		index = makeIndex()
	}
	return &Table{builtin: &builtin{index: index}}
}

// Find returns the rows of a command; several add up.
func (t *Table) Find(name string) []*Entry {
	rows := t.builtin.find(name)
	if more := t.added[name]; len(more) > 0 {
		rows = append(slices.Clone(rows), more...)
	}
	return rows
}

// Each calls f with every command and its rows.
func (t *Table) Each(f func(name string, rows []*Entry)) {
	names := maps.Clone(t.added)
	if names == nil {
		names = map[string][]*Entry{}
	}
	for line := range strings.Lines(t.builtin.index) {
		name, _, _ := strings.Cut(line, "\t")
		names[name] = nil
	}
	for name := range names {
		f(name, t.Find(name))
	}
}

func (b *builtin) find(name string) []*Entry {
	if found, ok := b.found.Load(name); ok {
		return found.([]*Entry)
	}
	var list []*Entry
	for at := search(b.index, name); at < len(b.index); {
		line, _, _ := strings.Cut(b.index[at:], "\n")
		place, ok := strings.CutPrefix(line, name+"\t")
		if !ok {
			break
		}
		list = append(list, b.row(place))
		at += len(line) + 1
	}
	if list == nil {
		return nil
	}
	found, _ := b.found.LoadOrStore(name, list)
	return found.([]*Entry)
}

// search returns the offset in an index of the first line with a name, or of a line behind it.
func search(index, name string) int {
	low, high := 0, len(index) // both are beginnings of lines
	for low < high {
		middle := strings.LastIndexByte(index[:low+(high-low)/2], '\n') + 1
		line, _, _ := strings.Cut(index[middle:], "\n")
		if has, _, _ := strings.Cut(line, "\t"); has < name {
			low = middle + len(line) + 1
		} else {
			high = middle
		}
	}
	return low
}

// row is the entry at a place of the index.
func (b *builtin) row(place string) *Entry {
	if e, ok := b.rows.Load(place); ok {
		return e.(*Entry)
	}
	e := &Entry{Names: []string{place}, siblings: func(name string) *Entry {
		if rows := b.find(name); len(rows) > 0 {
			return rows[0]
		}
		return nil
	}}
	if text, err := read(place); err != nil {
		e.damaged = fmt.Errorf("the index is damaged: %w", err)
	} else {
		e.Names, e.text = strings.Split(text.key, ", "), text
	}
	shared, _ := b.rows.LoadOrStore(place, e)
	return shared.(*Entry)
}

// read reads the section at a place of the index.
func read(place string) (section, error) {
	var at [2]int64
	fields := strings.Split(place, "\t")
	if len(fields) != 1+len(at) {
		return section{}, fmt.Errorf("%q is no place", place)
	}
	for i := range at {
		var err error
		if at[i], err = strconv.ParseInt(fields[i+1], 10, 64); err != nil {
			return section{}, err
		}
	}
	f, err := files.Open("table/" + fields[0])
	if err != nil {
		return section{}, err
	}
	defer f.Close() //nolint:errcheck // it is part of the program
	from, ok := f.(io.ReaderAt)
	if !ok || at[1] < at[0] {
		return section{}, fmt.Errorf("%q cannot be read", place)
	}
	text := make([]byte, at[1]-at[0])
	if _, err := from.ReadAt(text, at[0]); err != nil {
		return section{}, err
	}
	rows, err := split(string(text), "")
	if err == nil && len(rows) != 1 {
		err = fmt.Errorf("%q has %d rows", place, len(rows))
	}
	if err != nil {
		return section{}, err
	}
	return rows[0], nil
}
