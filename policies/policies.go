// Package policies embeds the built-in policy bundle: the rules below sallyport/rules, their
// library, the profiles and the default configuration; and the same compiled to WebAssembly.
//
// It holds no tests (they stand beside the rules in the repository) and knows nothing of Rego:
// engine/rego compiles and evaluates them.
package policies

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/sallyport-dev/sallyport/policies/revision"
)

//go:generate go run ./compilegen compiled revision/revision.go

//go:embed sallyport
var embedded embed.FS

//go:embed compiled/policy.wasm
var module []byte

//go:embed compiled/rules.json
var rules []byte

// Compiled returns the bundle in the form for WebAssembly, and the data about its rules that the form lacks.
// Both are generated from the files of FS, and callers must not change them. The data names the revision of
// the bundle.
func Compiled() (wasm, about []byte) { return module, rules }

// FS returns the bundle: Rego modules and data.json files, without the modules that test them.
func FS() fs.FS { return bundle{files: embedded} }

// Kit returns the bundle with data.sallyport.testing, which builds inputs for the tests of custom rules.
func Kit() fs.FS { return bundle{files: embedded, testing: true} }

// Revision names the content of the bundle: equal revisions judge alike. It is Hash, as generated.
func Revision() string { return revision.Policies }

// Hash computes the revision: the first half of a SHA-256 over the names, lengths and contents of the files
// of FS, in hex.
func Hash() string {
	sum := sha256.New()
	buffer := make([]byte, 16<<10) // whole copies of all files would cost each start more than the sum
	err := fs.WalkDir(FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		file, err := FS().Open(name)
		if err != nil {
			return err
		}
		info, err := file.Stat()
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%s\x00%d\x00", name, info.Size())
		_, err = io.CopyBuffer(sum, file, buffer)
		return errors.Join(err, file.Close())
	})
	if err != nil {
		panic("hash embedded policies: " + err.Error()) // an embedded file is always readable
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// bundle hides tests and their data. The go command cannot leave files out of a
// directory that it embeds.
type bundle struct {
	files   embed.FS
	testing bool // with the data of tests
}

func (b bundle) hidden(name string) bool {
	return strings.HasSuffix(name, "_test.rego") || !b.testing &&
		(name == testing || strings.HasPrefix(name, testing+"/"))
}

const testing = "sallyport/testing" // inputs for the tests of rules

func (b bundle) Open(name string) (fs.File, error) {
	if b.hidden(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	file, err := b.files.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.IsDir() {
		return file, err
	}
	entries, err := b.ReadDir(name)
	return &directory{file, entries}, err
}

func (b bundle) ReadFile(name string) ([]byte, error) {
	if b.hidden(name) {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	return b.files.ReadFile(name)
}

func (b bundle) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := b.files.ReadDir(name)
	kept := entries[:0:0]
	for _, entry := range entries {
		if !b.hidden(path.Join(name, entry.Name())) {
			kept = append(kept, entry)
		}
	}
	return kept, err
}

// directory is an open directory without its hidden entries.
type directory struct {
	fs.File
	rest []fs.DirEntry
}

func (d *directory) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(d.rest) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(d.rest) {
		n = len(d.rest)
	}
	entries := d.rest[:n:n]
	d.rest = d.rest[n:]
	return entries, nil
}
