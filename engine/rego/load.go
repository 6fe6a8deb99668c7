package rego

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/util"
	"go.yaml.in/yaml/v3"
)

// source is a Rego file.
type source struct {
	name   string // as shown: below the bundle's root, or below the custom directory's path
	text   string
	custom bool
	module *ast.Module
}

// test reports whether the file holds tests, which are no part of a decision.
func (s *source) test() bool { return strings.HasSuffix(s.name, "_test.rego") }

// document is a data file, and the place in data where it belongs.
type document struct {
	sum   string // of its text, SHA-256 in hex
	name  string
	at    []string
	value map[string]any
}

// fileSet gathers files and the problems they have.
type fileSet struct {
	keys      [][]byte // one of which must have signed each bundle, if there are any
	texts     map[string][]byte
	known     Serials
	serials   map[string]int64 // of the bundles that were read
	sources   []*source
	documents []document
	problems  []Problem
}

// isModule selects the modules that judge; tests beside them do not.
func isModule(name string) bool {
	return strings.HasSuffix(name, ".rego") && !strings.HasSuffix(name, "_test.rego")
}

// isData selects data files. All of them count, as with opa itself: a list that was left out
// because of its name would leave rules silent.
// Case files are no data: they are for sallyport policy test.
func isData(name string) bool {
	return !isCases(name) && slices.Contains([]string{".json", ".yaml", ".yml"}, path.Ext(name))
}

// isCases selects files of cases.
func isCases(name string) bool { return strings.HasSuffix(name, ".cases.yaml") }

// read gathers the files below the root of files, but no hidden ones.
func (s *fileSet) read(files fs.FS, root string, custom bool, wanted func(string) bool) {
	if files == nil {
		s.problem(root, "read policies: there is no policy bundle")
		return
	}
	walk := func(name string, entry fs.DirEntry, err error) error {
		shown := filepath.Join(root, filepath.FromSlash(name))
		switch {
		case err != nil:
			s.problem(shown, "read policies: %v", err)
			return nil
		case name != "." && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.Type()&fs.ModeSymlink != 0 && leadsToDir(files, name):
			// Rules that lie behind it would be left out, and nothing would say so.
			s.problem(shown, "read policies: a link to a directory, which is not followed").suggest(
				"name that directory in the configuration, and take the link away")
			return nil
		case entry.IsDir(), !wanted(name) && !isData(name):
			return nil
		}
		// A special file may never end, or not even open: a named pipe waits for a writer.
		if info, err := fs.Stat(files, name); err == nil && !info.Mode().IsRegular() {
			s.problem(shown, "read policies: not a regular file").suggest("take it away")
			return nil
		}
		text, err := fs.ReadFile(files, name)
		switch {
		case err != nil:
			s.problem(shown, "read policies: %v", err)
		case isData(name):
			s.document(shown, name, text, custom)
		default:
			s.sources = append(s.sources, &source{name: shown, text: string(text), custom: custom})
		}
		return nil
	}
	if err := fs.WalkDir(files, ".", walk); err != nil {
		s.problem(root, "read policies: %v", err)
	}
}

func leadsToDir(files fs.FS, link string) bool {
	info, err := fs.Stat(files, link)
	return err == nil && info.IsDir()
}

// readCustom gathers the files of the operator's directories and bundles.
func (s *fileSet) readCustom(dirs []string, wanted func(string) bool) {
	for _, dir := range dirs {
		if IsRemote(dir) {
			if text, ok := s.texts[dir]; ok {
				s.unpack(dir, text)
			} else {
				s.problem(dir, "read policies: there is no bundle of it yet")
			}
			continue
		}
		if IsBundle(dir) {
			s.readBundle(dir)
			continue
		}
		info, err := os.Stat(dir)
		if err != nil {
			s.problem(dir, "read policies: %v", errors.Unwrap(err)).suggest(
				"make the directory or take it out of the configuration")
			continue
		}
		if !info.IsDir() {
			s.problem(dir, "read policies: not a directory").suggest("name the directory that holds the policy files")
			continue
		}
		s.readDir(os.DirFS(dir), dir, wanted)
	}
}

// readDir gathers the files of one of the operator's directories, which must hold policies.
func (s *fileSet) readDir(files fs.FS, dir string, wanted func(string) bool) {
	sources, problems := len(s.sources), len(s.problems)
	s.read(files, dir, true, wanted)
	if len(s.sources) == sources && len(s.problems) == problems {
		s.problem(dir, "read policies: no .rego file there").suggest(
			"put policies there or take the directory out of the configuration")
	}
}

// document takes a data file. Its place in data is its directory, as with opa.
func (s *fileSet) document(shown, name string, text []byte, custom bool) {
	sum := sha256.Sum256(text)
	d := document{name: shown, sum: hex.EncodeToString(sum[:])}
	if dir := path.Dir(name); dir != "." {
		d.at = strings.Split(dir, "/")
	}
	var err error
	if d.value, err = readData(name, text); err != nil {
		s.problem(shown, "read data: %v", err).as("data")
		return
	}
	if custom {
		outside := d.at
		if len(outside) == 0 {
			for key := range d.value {
				if key != "custom" {
					outside = []string{key}
				}
			}
		}
		if len(outside) > 0 && outside[0] != "custom" {
			s.problem(shown, "read data: data.%s lies outside data.custom", strings.Join(outside, ".")).
				as("data").suggest("put it into a directory custom or below a key custom")
			return
		}
	}
	s.documents = append(s.documents, d)
}

// parse parses all modules, on all processors: it is a third of the time that loading takes.
// Annotations are left alone; they are read when a rule's metadata is asked for.
func (s *fileSet) parse() {
	options := ast.ParserOptions{Capabilities: capabilities(), RegoVersion: ast.RegoV1}
	errs := make([]error, len(s.sources))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 8) {
		workers.Go(func() {
			for i := range next {
				src := s.sources[i]
				src.module, errs[i] = ast.ParseModuleWithOpts(src.name, src.text, options)
				if src.module == nil && errs[i] == nil {
					errs[i] = ast.NewError(ast.ParseErr, &ast.Location{File: src.name}, "empty module")
				}
			}
		})
	}
	for i := range s.sources {
		next <- i
	}
	close(next)
	workers.Wait()
	for i, err := range errs {
		s.failed(s.sources[i].name, placed(err, s.sources[i].text))
	}
}

// data merges the data files, with the configuration over the bundle's copy of it.
func (s *fileSet) data(config Config) (map[string]any, error) {
	root := map[string]any{}
	for _, d := range s.documents {
		merged := d.value
		for _, key := range slices.Backward(d.at) {
			merged = map[string]any{key: merged}
		}
		if at, ok := merge(root, merged); !ok {
			s.problem(d.name, "read data: data.%s is given twice", at).as("data")
		}
	}
	overlay, err := asJSON(config.Filled())
	if err != nil {
		return nil, fmt.Errorf("encode configuration: %w", err)
	}
	node, ok := root["sallyport"].(map[string]any)
	if !ok {
		return nil,
			errors.New("load policies: the bundle holds no data below sallyport: it is not sallyport's bundle")
	}
	node["config"] = overlay
	return root, nil
}

// asJSON turns a value into the decoded form of its JSON, with numbers as OPA wants them.
func asJSON(v any) (any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var decoded any
	return decoded, util.UnmarshalJSON(text, &decoded)
}

// merge puts from into into. Where both hold something that is not an object it stops and names the place.
func merge(into, from map[string]any) (at string, ok bool) {
	for key, value := range from {
		present, exists := into[key]
		if !exists {
			into[key] = value
			continue
		}
		a, aOK := present.(map[string]any)
		b, bOK := value.(map[string]any)
		if !aOK || !bOK {
			return key, false
		}
		if at, ok := merge(a, b); !ok {
			return key + "." + at, false
		}
	}
	return "", true
}

// readData reads a data file, an object in JSON or YAML as its name says. A key that stands there twice is an
// error: of two lists of one name, OPA would take the last and not say so.
func readData(name string, text []byte) (map[string]any, error) {
	var value map[string]any
	if path.Ext(name) == ".json" {
		if err := util.UnmarshalJSON(text, &value); err != nil {
			return nil, fmt.Errorf("not a JSON object: %w", err)
		}
		if err := uniqueKeys(text); err != nil {
			return nil, err
		}
	} else {
		if err := util.Unmarshal(text, &value); err != nil {
			return nil, fmt.Errorf("not a YAML object: %w", err)
		}
		var node map[string]any
		if err := yaml.Unmarshal(text, &node); err != nil { // which knows the line of a key that is repeated
			return nil, fmt.Errorf("not a YAML object: %s", yamlText(err))
		}
	}
	if value == nil {
		return nil, errors.New("it is empty: write an object, or take the file away")
	}
	return value, nil
}

// yamlText is the message of the YAML parser, on one line.
func yamlText(err error) string {
	return strings.Join(strings.Fields(strings.TrimPrefix(strings.TrimPrefix(err.Error(), "yaml: "),
		"unmarshal errors:")), " ")
}

// uniqueKeys finds a key that an object of a sound JSON text has twice.
func uniqueKeys(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	var open []map[string]bool // open values: the keys of an object so far, nil for an array
	key := false               // a key comes next, if an object is open
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("not a JSON object: %w", err)
		}
		switch token {
		case json.Delim('{'):
			open, key = append(open, map[string]bool{}), true
			continue
		case json.Delim('['):
			open = append(open, nil)
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		default:
			if keys := inner(open); keys != nil && key {
				name := token.(string) // a sound object has no other keys
				if keys[name] {
					row := 1 + bytes.Count(text[:decoder.InputOffset()], []byte("\n"))
					return fmt.Errorf("line %d: the key %q stands there twice: merge the two", row, name)
				}
				keys[name], key = true, false
				continue
			}
		}
		key = inner(open) != nil // behind a value the next key comes
	}
}

func inner(open []map[string]bool) map[string]bool {
	if len(open) == 0 {
		return nil
	}
	return open[len(open)-1]
}
