package docstring

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// found is what this package makes of a source, for the oracle.
type found struct {
	Path        string       `json:"path"`
	Doc         string       `json:"doc"`
	Definitions []foundEntry `json:"definitions"`
	Error       string       `json:"error,omitempty"`
	Must        bool         `json:"must,omitempty"` // Python must be able to parse it
}

type foundEntry struct {
	Name      string `json:"name"`
	Line      int    `json:"line"`
	Doc       string `json:"doc"`
	Signature string `json:"signature"`
}

func find(t *testing.T, path string) found {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := found{Path: path, Definitions: []foundEntry{}, Must: filepath.Base(path) == "shapes.py"}
	m, err := parse(source)
	if err != nil {
		f.Error = err.Error()
		return f
	}
	f.Doc = clean(m.doc)
	for i := range m.definitions {
		d := &m.definitions[i]
		f.Definitions = append(f.Definitions, foundEntry{m.fullName(d), d.line, clean(d.doc), d.signature})
	}
	return f
}

// TestAgainstPython compares every definition in Python's standard library with what Python itself says.
// Python parses the sources; it runs none of them.
func TestAgainstPython(t *testing.T) {
	t.Parallel()
	python := leftout.Command(t, "python3")
	where, err := exec.Command(python, "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))").Output()
	if err != nil {
		t.Fatal(err)
	}
	paths := append(sources(t, strings.TrimSpace(string(where))), sources(t, "testdata")...)
	var in bytes.Buffer
	definitions := 0
	for _, path := range paths {
		f := find(t, path)
		definitions += len(f.Definitions)
		line, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	cmd := exec.Command(python, "testdata/oracle.py")
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, difference := range lines[:len(lines)-1] {
		t.Error(difference)
	}
	if n, err := strconv.Atoi(lines[len(lines)-1]); err != nil || n < 100 {
		t.Errorf("compared %s sources, %v: that shows nothing", lines[len(lines)-1], err)
	}
	t.Logf("%s sources, %d definitions", lines[len(lines)-1], definitions)
}

// sources lists the Python files below a directory. Of the library's own tests only those about syntax
// are read: there are very many, and they test the library.
func sources(t *testing.T, root string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch d.Name() {
			case "site-packages", "dist-packages", "idlelib", "lib2to3", "__pycache__":
				return fs.SkipDir
			}
			return nil
		}
		about := []string{"string", "grammar", "syntax", "token", "inspect", "ast"}
		inTests := strings.Contains(filepath.ToSlash(path), "/test")
		if filepath.Ext(path) != ".py" || inTests && root != "testdata" && !containsAny(d.Name(), about) {
			return nil
		}
		out = append(out, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func containsAny(s string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}
