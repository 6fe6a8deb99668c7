// Package envfile reads files of NAME=value lines in the form that dotenv tools share: export, quotes,
// comments behind a value, values of several lines, and $NAME for earlier variables.
//
// Such a file holds secrets, and it often lies where an agent can write. So an error has the number of a line
// and never its content, and a variable by which a shell or the loader would run something else is refused.
// Whether a command gets the variables is not decided here.
package envfile

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/joho/godotenv"
)

const (
	// maxFile bounds a file, in bytes.
	maxFile = 1 << 20
	// maxValue bounds, in lines, the value at which the search for a bad line gives up.
	maxValue = 200
)

// Read returns the variables of a file, or of them those that names holds, if it holds any. A byte order mark
// is passed over.
func Read(path string, names []string) (map[string]string, error) {
	b, err := readSmall(path)
	if err != nil {
		return nil, fmt.Errorf("read environment file: %w", err)
	}
	values, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("read environment file %s: %w", path, err)
	}
	if len(names) == 0 {
		return values, nil
	}
	for name := range values {
		if !slices.Contains(names, name) {
			delete(values, name)
		}
	}
	return values, nil
}

func parse(b []byte) (map[string]string, error) {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	values, ok := statements(b)
	if !ok {
		return nil, fmt.Errorf("line %d: not NAME=value", badLine(b))
	}
	for name, value := range values {
		if !ValidName(name) || strings.Contains(value, "\x00") {
			return nil, fmt.Errorf("%q: not a variable that a process can have", name)
		}
		if Hijacks(name) {
			return nil, fmt.Errorf("%s would make commands run unjudged code: remove it", name)
		}
	}
	return values, nil
}

// statements reads a text. The parser's own errors quote it, and a last word without "=" is a value without a
// name to it.
func statements(b []byte) (map[string]string, bool) {
	values, err := godotenv.UnmarshalBytes(b)
	_, nameless := values[""]
	return values, err == nil && !nameless
}

// readSmall reads a regular file: a pipe or a device that an agent put there would never end.
func readSmall(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, fmt.Errorf("%s: not a regular file of at most %d bytes", path, maxFile)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile))
}

// badLine returns the number of the line with which the first statement begins that is none.
func badLine(b []byte) int {
	lines := bytes.SplitAfter(b, []byte("\n"))
	for at := 0; at < len(lines); {
		n := statement(lines[at:])
		if n == 0 {
			return at + 1
		}
		at += n
	}
	return 1 // each is one by itself, and together they are none: not seen yet
}

// statement returns how many lines the statement takes that they begin with; 0 for none.
func statement(lines [][]byte) int {
	for n := 1; n <= min(len(lines), maxValue); n++ {
		if _, ok := statements(bytes.Join(lines[:n], nil)); ok {
			return n
		}
	}
	return 0
}

// ValidName reports whether a shell can have a variable of that name.
func ValidName(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// Hijacks tells the variables by which a shell or the loader runs something before or in place of the text.
// The operator can still pass these on by name.
func Hijacks(name string) bool {
	switch name {
	case "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS4", "IFS", "LD_PRELOAD", "LD_AUDIT",
		"LD_LIBRARY_PATH":
		return true
	}
	return strings.HasPrefix(name, "DYLD_") || strings.HasPrefix(name, "BASH_FUNC_")
}
