// Package undo keeps the earlier versions of files that commands change, and takes the changes back.
//
// A Recorder runs where the commands run. The service that performs their system calls tells it of each
// change below some directories before, or for a new name right after, it is made. The first time that a
// decision changes a file, the Recorder copies the file (a pre-image) into a directory that commands cannot
// reach. Then it appends an Entry to a journal, and then the change is made.
//
// A Session is the store of one environment on this machine. At the end of each command it notes the states
// of the changed files. Undo goes through the entries of a decision backwards. A file that is not in the
// noted state any more was changed by somebody else since: it is left and reported, as is a change without
// pre-image.
//
// The journal is written next to the commands, so that Undo trusts none of its paths: it walks each from a
// directory that this machine's side named, and follows no link. It restores contents, permission bits, times
// of modification, symbolic links and the names of a file. It does not restore owners, extended attributes,
// set-user-id bits, and the times of directories.
package undo

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"strings"
)

// RecorderOptions configure a Recorder.
type RecorderOptions struct {
	Dir    string   // the directory Session.Kept
	Places []string // directories whose files are recorded
	Most   int64    // bytes of all pre-images; without room no further ones are taken
}

// State describes a file. The zero value is a missing one.
type State struct {
	Kind  string `json:"k,omitempty"` // file, dir, link, other
	Mode  uint32 `json:"m,omitempty"` // permission bits
	Size  int64  `json:"s,omitempty"` // of a file
	Time  int64  `json:"t,omitempty"` // of its last modification, in nanoseconds of the epoch
	Inode uint64 `json:"i,omitempty"`
	Born  int64  `json:"b,omitempty"` // its creation, likewise; 0 where it is not known
	Links uint32 `json:"l,omitempty"` // names of a file
}

// Kinds of files.
const (
	kindFile  = "file"
	kindDir   = "dir"
	kindLink  = "link"
	kindOther = "other"
)

// is reports the same file, whatever its content.
func (s State) is(o State) bool {
	return s.Kind != "" && s.Kind == o.Kind && s.Inode == o.Inode && s.Born == o.Born
}

// like reports a file with the same content, as far as size and time tell.
func (s State) like(o State) bool {
	if s.Kind != o.Kind || s.Kind != kindLink && s.Mode != o.Mode {
		return false
	}
	return s.Kind != kindFile && s.Kind != kindLink || s.Size == o.Size && s.Time == o.Time
}

// same reports the same file in the same state.
func (s State) same(o State) bool { return s == o || s.is(o) && s.like(o) }

// Changes of an Entry.
const (
	opIntend = "intend" // Path is about to be new, at the time of State, unless that fails
	opMake   = "make"   // Path is new; State is the new file
	opWrite  = "write"  // the content of Path
	opMode   = "mode"   // the mode of Path
	opRemove = "remove" // Path
	opMove   = "move"   // State from From to Path; Over was at Path
	opSwap   = "swap"   // State from From to Path, and Over from Path to From
	opGap    = ""       // changes of before could not be noted
)

// Entry is a change. Except for opMake it stands in the journal before the change is made, or fails.
type Entry struct {
	Decision string `json:"d"`
	Op       string `json:"op"`
	Path     exact  `json:"p,omitempty"`
	From     exact  `json:"from,omitempty"`
	State    State  `json:"f,omitzero"`     // of the file before the change
	Over     State  `json:"over,omitzero"`  // likewise of the one that a move replaces
	Sum      string `json:"sum,omitempty"`  // SHA-256 of the lost content, hex; "" without pre-image
	Link     exact  `json:"link,omitempty"` // target of the lost symbolic link
	Made     bool   `json:"made,omitempty"` // the decision made State itself
	Late     bool   `json:"late,omitempty"` // a file of the session's own
	Lack     string `json:"lack,omitempty"` // why there is no pre-image
}

// change reports an entry that may be a change.
func (e *Entry) change() bool { return e.Op != opGap && e.Op != opIntend }

// lost is the file that the change loses: that at Path before it.
func (e *Entry) lost() State {
	if e.Op == opMove {
		return e.Over
	}
	return e.State
}

// exact is a text of arbitrary bytes.
type exact string

func (x exact) MarshalJSON() ([]byte, error) { return json.Marshal([]byte(x)) }

func (x *exact) UnmarshalJSON(text []byte) error {
	var b []byte
	err := json.Unmarshal(text, &b)
	*x = exact(b)
	return err
}

// Names in the directory of a Session. The Recorder has only the directory kept.
const (
	sessionFile = "session.json"
	keptDir     = "kept"
	journalFile = "journal" // in keptDir
	objectsDir  = "objects" // likewise: pre-images by SHA-256
	endsFile    = "ends"
	openFile    = "open" // locked while the session goes on
	undoneFile  = "undone"
)

// maxLine bounds a line of a journal, in bytes.
const maxLine = 64 << 10

// eachLine decodes the whole lines of a file from an offset on, and returns the offset behind them. A missing
// file has none. A line that cannot be decoded gives the zero value. An incomplete last line is left for
// later: its writer was interrupted.
func eachLine[T any](name string, offset int64, do func(T)) (int64, error) {
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return offset, nil
	}
	if err != nil {
		return offset, err
	}
	defer f.Close()
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return offset, err
	}
	r := bufio.NewReaderSize(f, maxLine)
	for {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return offset, nil
		}
		if err != nil {
			return offset, err
		}
		offset += int64(len(line))
		var v T
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if json.Unmarshal(line, &v) != nil {
			var none T
			v = none
		}
		do(v)
	}
}

// within reports a path that is a directory or lies below it.
func within(p, dir string) bool {
	return p == dir || dir == "/" || strings.HasPrefix(p, dir+"/")
}

// moves are the moves after an entry: the place of each file at the end.
type moves map[string]string

// final returns the path at the end of a file that an entry names.
func (m moves) final(p string) string {
	for at := p; at != "/" && at != "."; at = path.Dir(at) {
		if to, ok := m[at]; ok {
			return to + p[len(at):]
		}
	}
	return p
}

// before adds a move that comes before all others.
func (m moves) before(e *Entry) {
	from, to := m.final(string(e.From)), m.final(string(e.Path))
	if e.Op == opMove || e.Op == opSwap {
		m[string(e.From)] = to
	}
	if e.Op == opSwap {
		m[string(e.Path)] = from
	}
}

// finals returns the path at the end of the command for each entry.
func finals(entries []Entry) []string {
	m, out := moves{}, make([]string, len(entries))
	for i := len(entries) - 1; i >= 0; i-- {
		out[i] = m.final(string(entries[i].Path))
		m.before(&entries[i])
	}
	return out
}
