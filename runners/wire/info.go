package wire

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// info is a fs.FileInfo. The bits of its mode are those of package fs, on every system.
type info struct {
	File  exact  `json:"name"`
	Bytes int64  `json:"size"`
	Bits  uint32 `json:"mode"`
	Sec   int64  `json:"sec"`
	Nano  int    `json:"nano"`
	ID    exact  `json:"id,omitempty"` // of the file on its machine; nothing is known by "" but that
}

func infoOf(i fs.FileInfo) *info {
	t := i.ModTime()
	return &info{File: exact(i.Name()), Bytes: i.Size(), Bits: uint32(i.Mode()), Sec: t.Unix(),
		Nano: t.Nanosecond(), ID: exact(identity(i))}
}

// fileInfo is an info as package fs has it.
type fileInfo struct{ info }

func (f fileInfo) Name() string      { return string(f.File) }
func (f fileInfo) Size() int64       { return f.Bytes }
func (f fileInfo) Mode() fs.FileMode { return fs.FileMode(f.Bits) }
func (f fileInfo) IsDir() bool       { return f.Mode().IsDir() }
func (f fileInfo) Sys() any          { return nil }

// Same implements the comparison of engine.SameFile.
func (f fileInfo) Same(other fs.FileInfo) bool {
	o, ok := other.(fileInfo)
	return ok && f.ID != "" && f.ID == o.ID
}

// ModTime is within the years that can be encoded, regardless of the received value.
func (f fileInfo) ModTime() time.Time {
	const first, last = -62135596800, 253402300799 // of the years 1 and 9999
	return time.Unix(min(max(f.Sec, first), last), int64(f.Nano))
}

func (i *info) check() error {
	if i.Bytes < 0 || i.Nano < 0 || i.Nano > 999_999_999 {
		return violation("description of a file with size %d, nanosecond %d", i.Bytes, i.Nano)
	}
	return nil
}

// entry is a fs.DirEntry.
type entry struct {
	File exact  `json:"name"`
	Bits uint32 `json:"type"`
}

// dirEntry is an entry as package fs has it. Its info is asked for when it is wanted.
type dirEntry struct {
	entry
	dir   string
	lstat func(string) (fs.FileInfo, error)
}

func (e dirEntry) Name() string               { return string(e.File) }
func (e dirEntry) Type() fs.FileMode          { return fs.FileMode(e.Bits).Type() }
func (e dirEntry) IsDir() bool                { return e.Type().IsDir() }
func (e dirEntry) Info() (fs.FileInfo, error) { return e.lstat(path.Join(e.dir, e.Name())) }
func (e dirEntry) String() string             { return fs.FormatDirEntry(e) }

func (e entry) check(before exact) error {
	name := string(e.File)
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") || before != "" &&
		before >= e.File {
		return violation("directory entry %.40q after %.40q", name, before)
	}
	return nil
}

// nodes are files by path, sent as one text: a list of documents takes longer to read. Each file is three
// texts with their lengths: path, state and the target of a link.
type nodes map[string]facts.Node

// MarshalJSON writes one exact text.
func (n nodes) MarshalJSON() ([]byte, error) {
	var b []byte
	for _, path := range slices.Sorted(maps.Keys(n)) {
		state := ""
		switch f := n[path]; {
		case f.Exists:
			state = strconv.FormatUint(uint64(f.Mode), 10)
		case f.Absent:
			state = absent
		}
		for _, text := range []string{path, state, n[path].Link} {
			b = append(strconv.AppendInt(b, int64(len(text)), 10), ':')
			b = append(b, text...)
		}
	}
	return exact(b).MarshalJSON()
}

// absent is the state of a file that surely does not exist, and "" that of one about which nothing is known.
const absent = "absent"

// UnmarshalJSON reads it.
func (n *nodes) UnmarshalJSON(b []byte) error {
	var all exact
	if err := all.UnmarshalJSON(b); err != nil {
		return err
	}
	*n = nodes{}
	for rest := string(all); rest != ""; {
		var file [3]string
		for i := range file {
			size, text, _ := strings.Cut(rest, ":")
			long, err := strconv.ParseUint(size, 10, 31)
			if err != nil || int(long) > len(text) {
				return errors.New("want texts with their lengths")
			}
			file[i], rest = text[:long], text[long:]
		}
		f := facts.Node{Link: file[2]}
		if f.Absent = file[1] == absent; !f.Absent && file[1] != "" {
			mode, err := strconv.ParseUint(file[1], 10, 32)
			if err != nil {
				return fmt.Errorf("state of a file: %w", err)
			}
			f.Exists, f.Mode = true, fs.FileMode(mode)
		}
		(*n)[file[0]] = f
	}
	return nil
}

// failure is an error that happened elsewhere, and the errors that errors.Is finds in it.
type failure struct {
	Is   string `json:"is,omitempty"`
	Text string `json:"text"`
}

// kinds are the errors that package engine and those above it look for.
func kinds() map[string]error {
	return map[string]error{
		"not_exist": fs.ErrNotExist, "exist": fs.ErrExist, "permission": fs.ErrPermission, "invalid": fs.ErrInvalid,
	}
}

func failureOf(err error) *failure {
	if err == nil {
		return nil
	}
	f := &failure{Text: words(err.Error())}
	for name, kind := range kinds() {
		if errors.Is(err, kind) {
			f.Is = name
		}
	}
	return f
}

// elsewhere is a failure as an error.
type elsewhere struct {
	text string
	kind error
}

func (e elsewhere) Error() string { return e.text }
func (e elsewhere) Unwrap() error { return e.kind }

// err returns the failure as an error; nil for none.
func (f *failure) err() error {
	if f == nil {
		return nil
	}
	return elsewhere{words(f.Text), kinds()[f.Is]}
}

// words bounds a text for people and makes it valid.
func words(s string) string {
	if len(s) > maxWords {
		s = s[:maxWords] + " [...]"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
